-- name: facts_core_world__nodes
-- One row of facts about the states of nodes and edges; 0 is right everywhere.
with nodes as (
    select id, count(*) - count(distinct revision) as doubled, count(*) filter (retired_revision is null) as newest
    from core_world__nodes
    group by id
),
edges as (
    select id, count(*) - count(distinct revision) as doubled, count(*) filter (retired_revision is null) as newest
    from core_world__edges
    group by id
)
select
    (select coalesce(sum(doubled), 0) from nodes) + (select coalesce(sum(doubled), 0) from edges) as doubled_states,
    (select count(*) from nodes where newest <> 1) as nodes_without_one_newest_state,
    (select count(*) from edges where newest <> 1) as edges_without_one_newest_state,
    (select count(*) from core_world__nodes where valid_to < valid_from)
    + (select count(*) from core_world__edges where valid_to < valid_from) as ends_before_starts,
    (select count(*) from core_world__nodes where (visibility = 'public') <> (owner is null))
    + (select count(*) from core_world__edges where (visibility = 'public') <> (owner is null)) as public_with_owner,
    (
        select count(*)
        from core_world__edges as edge
        where retired_revision is null
            and (edge.source not in (select id from nodes) or edge.target not in (select id from nodes))
    ) as edges_to_nothing,
    (select count(*) from core_world__nodes where erased and (title <> '' or properties <> '{}')) as erased_with_text,
    (
        select count(*)
        from core_world__nodes as node
        full join out_world__nodes as record on record.id = node.id and record.revision = node.revision
        where node.id is null or record.id is null or record.newest <> (node.retired_revision is null)
    ) as states_unlike_records
