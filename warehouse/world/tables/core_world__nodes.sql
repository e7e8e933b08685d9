-- One row per state of a node, including private ones. A revision is the ledger's seq of the event that wrote it;
-- a later state of the same node retires it.
create table if not exists core_world__nodes (
    id varchar not null,  -- The node
    revision bigint not null,  -- Revision that wrote this state: the ledger's seq of its event
    title varchar not null,  -- One line; empty if it was erased
    type varchar not null,  -- Node type of the ontology
    domain varchar not null,  -- Domain of the type
    properties json not null using compression zstd,  -- Further properties as JSON
    visibility varchar not null,  -- public or private
    owner varchar,  -- Owner of a private node; null for public ones
    immutable boolean not null,  -- True if only an amendment of the constitution changes it
    erased boolean not null,  -- True if its texts were deleted for the rights of a person
    live boolean not null,  -- True if the state is part of the live graph while it is the newest
    valid_from timestamp not null,  -- Start of its validity in the world, UTC
    valid_to timestamp,  -- End of its validity, UTC; null: none is known
    recorded_at timestamp not null,  -- Time at which the ledger recorded it, UTC
    retired_at timestamp,  -- Time at which a later state was recorded, UTC; null for the newest
    retired_revision bigint,  -- Revision of the later state; null for the newest
    source varchar not null,  -- Source of the statement
    actor varchar not null  -- Writer of the state
);

-- checks (blocking) states_and_edges_are_consistent: Every state occurs once, a node has one newest state, validity
-- ends after it starts, and every live edge connects existing nodes.
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
