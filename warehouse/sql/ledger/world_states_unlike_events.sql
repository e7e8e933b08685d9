-- One row per node or edge whose newest state is not that of its newest event, or that has no event, or no state.
with newest as (
    select events.kind, events.entity_id, events.body
    from world_events as events
    where events.seq = (select max(seq) from world_events where entity_id = events.entity_id)
),
states as (
    select 'node' as kind, id, body from world_nodes
    union all
    select 'edge' as kind, id, body from world_edges
)
select newest.entity_id as id
from newest
left join states on states.kind = newest.kind and states.id = newest.entity_id
where states.body is null or states.body <> newest.body
union all
select states.id
from states
left join newest on newest.kind = states.kind and newest.entity_id = states.id
where newest.entity_id is null
order by id
