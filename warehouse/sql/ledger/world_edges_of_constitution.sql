-- One row per edge that the constitution wrote: its newest state as JSON.
select body
from world_edges
where id in (select entity_id from world_events where actor = 'constitution' and kind = 'edge')
order by id
