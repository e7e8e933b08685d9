-- Tables of the graph; each statement is idempotent. A row is a state, and a revision is the
-- ledger's seq of the event that wrote it. Times are UTC. A state is retired when a later one of the same node or edge was
-- recorded; live is false where it was over already when it was recorded, or is erased.

-- One row per state of a node. What is private is here too.
create table if not exists core_world__nodes (
    id varchar not null,
    revision bigint not null,
    title varchar not null,
    type varchar not null,
    domain varchar not null,
    properties json not null,
    visibility varchar not null,
    owner varchar,
    immutable boolean not null,
    erased boolean not null,
    live boolean not null,
    valid_from timestamp not null,
    valid_to timestamp,
    recorded_at timestamp not null,
    retired_at timestamp,
    retired_revision bigint,
    source varchar not null,
    actor varchar not null
);

-- One row per state of an edge. What is private is here too.
create table if not exists core_world__edges (
    id varchar not null,
    revision bigint not null,
    source varchar not null,
    target varchar not null,
    type varchar not null,
    properties json not null,
    visibility varchar not null,
    owner varchar,
    live boolean not null,
    valid_from timestamp not null,
    valid_to timestamp,
    recorded_at timestamp not null,
    retired_at timestamp,
    retired_revision bigint,
    stated_in varchar not null,
    actor varchar not null
);

-- At most one row: the graph's revision up to which events are folded, and how many there were.
create table if not exists core_world__state (
    revision bigint not null,
    events bigint not null,
    recorded_at timestamp not null
);

-- One row per state of a node, with its record as JSON, for questions of keys about what was. Private states are for
-- their owners: no published document may be made of this without asking for owner is null.
create table if not exists out_world__nodes (
    id varchar not null,
    revision bigint not null,
    type varchar not null,
    domain varchar not null,
    owner varchar,
    live boolean not null,
    newest boolean not null,
    body varchar not null
);

-- One row per state of an edge, with its record as JSON; private ones as in out_world__nodes.
create table if not exists out_world__edges (
    id varchar not null,
    revision bigint not null,
    source varchar not null,
    target varchar not null,
    owner varchar,
    live boolean not null,
    newest boolean not null,
    body varchar not null
);

-- One row per domain: live public nodes, and live public edges from them to live public nodes, at one revision.
create table if not exists out_world__counts (
    domain varchar not null,
    node_count bigint not null,
    edge_count bigint not null,
    revision bigint not null
);

-- One row per public node that was ever drawn: where, in a square from 0 to 1000. A node keeps its place.
create table if not exists out_world__positions (
    id varchar not null,
    x double not null,
    y double not null
);
