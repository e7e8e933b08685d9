-- One row per state of an edge, with its record as JSON; private ones as in out_world__nodes.
create table if not exists out_world__edges (
    id varchar not null,  -- The edge
    revision bigint not null,  -- Revision that wrote this state
    source varchar not null using compression zstd,  -- Node where it begins
    target varchar not null using compression zstd,  -- Node where it ends
    owner varchar,  -- Owner of a private edge; null for public ones
    live boolean not null,  -- True if the state is part of the live graph while it is the newest
    newest boolean not null,  -- True if no later state is folded
    body varchar not null using compression zstd  -- The state as a JSON record
);
