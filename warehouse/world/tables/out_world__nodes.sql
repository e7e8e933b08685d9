-- One row per state of a node, with its record as JSON, for queries of the past. Private states are for their owners: a
-- published document may only read rows whose owner is null.
create table if not exists out_world__nodes (
    id varchar not null,  -- The node
    revision bigint not null,  -- Revision that wrote this state
    type varchar not null,  -- Node type of the ontology
    domain varchar not null,  -- Domain of the type
    owner varchar,  -- Owner of a private node; null for public ones
    live boolean not null,  -- True if the state is part of the live graph while it is the newest
    newest boolean not null,  -- True if no later state is folded
    body varchar not null using compression zstd  -- The state as a JSON record
);
