-- One row per edge that is public or another's than :owner's, and of which :actor wrote an earlier state: its newest state
-- as JSON.
select body
from world_edges
where owner not in (:owner, :forgotten)
    and id in (select entity_id from world_events where actor = :actor and kind = 'edge')
order by id
