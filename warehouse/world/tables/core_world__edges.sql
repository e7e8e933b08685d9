-- One row per state of an edge, including private ones; revisions and retirement as in core_world__nodes.
create table if not exists core_world__edges (
    id varchar not null,  -- The edge
    revision bigint not null,  -- Revision that wrote this state: the ledger's seq of its event
    source varchar not null using compression zstd,  -- Node where it begins
    target varchar not null using compression zstd,  -- Node where it ends
    type varchar not null,  -- Relationship type of the ontology
    properties json not null,  -- Further properties as JSON
    visibility varchar not null,  -- public or private
    owner varchar,  -- Owner of a private edge; null for public ones
    live boolean not null,  -- True if the state is part of the live graph while it is the newest and both its nodes are
    -- live
    valid_from timestamp not null,  -- Start of its validity in the world, UTC
    valid_to timestamp,  -- End of its validity, UTC; null: none is known
    recorded_at timestamp not null,  -- Time at which the ledger recorded it, UTC
    retired_at timestamp,  -- Time at which a later state was recorded, UTC; null for the newest
    retired_revision bigint,  -- Revision of the later state; null for the newest
    stated_in varchar not null,  -- Source of the statement
    actor varchar not null  -- Writer of the state
);
