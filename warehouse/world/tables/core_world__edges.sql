-- One row per state of an edge, private ones included; revisions and retirement as in core_world__nodes.
create table if not exists core_world__edges (
    id varchar not null,  -- The edge
    revision bigint not null,  -- Revision that wrote this state: the ledger's seq of its event
    source varchar not null,  -- Node that it goes out from
    target varchar not null,  -- Node that it goes to
    type varchar not null,  -- Relationship type of the ontology
    properties json not null,  -- Further properties as JSON
    visibility varchar not null,  -- public or private
    owner varchar,  -- Whose private edge it is; null for public ones
    live boolean not null,  -- Whether the state is part of the live graph while it is the newest and both its nodes are
    -- live
    valid_from timestamp not null,  -- From when it holds in the world, UTC
    valid_to timestamp,  -- Until when it holds, UTC; null until further notice
    recorded_at timestamp not null,  -- When the ledger took it, UTC
    retired_at timestamp,  -- When a later state was recorded, UTC; null for the newest
    retired_revision bigint,  -- Revision of the later state; null for the newest
    stated_in varchar not null,  -- Where the statement comes from
    actor varchar not null  -- Who wrote it
);
