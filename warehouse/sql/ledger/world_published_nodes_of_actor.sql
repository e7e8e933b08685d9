-- One row per public node of which :actor wrote an earlier, private state: its newest state as JSON.
select body
from world_nodes
where visibility = 'public'
    and id in (select entity_id from world_events where actor = :actor and kind = 'node')
order by id
