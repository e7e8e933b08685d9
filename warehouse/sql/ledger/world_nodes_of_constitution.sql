-- One row per node that the constitution wrote: its newest state as JSON.
select body
from world_nodes
where id in (select entity_id from world_events where actor = 'constitution' and kind = 'node')
order by id
