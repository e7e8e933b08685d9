-- The graph: its events, current states, decisions and pending proposals. Times are RFC 3339 text in UTC.
-- A revision is the seq of an event. Bodies are the JSON of contracts.world.records.

-- One row per accepted change: the new state of one node or edge. decision_seq is the decision that approved it.
create table world_events (
    seq bigint not null primary key,
    kind text not null check (kind in ('node', 'edge')),
    entity_id text not null,
    decision_seq bigint not null,
    actor text not null,
    source text not null,
    recorded_at text not null,
    body text not null
);

create index world_events_by_entity on world_events (entity_id, seq);
create index world_events_by_decision on world_events (decision_seq);
create index world_events_of_constitution on world_events (kind, entity_id) where actor = 'constitution';

-- One row per node: its newest state. owner is '' for public ones; live is 0 if it had ended when it was recorded, or is
-- erased; dedupe_key is of owner, type and title; fact_key of owner, subject and a single-valued predicate.
create table world_nodes (
    id text not null primary key,
    owner text not null,
    visibility text not null,
    domain text not null,
    live integer not null,
    dedupe_key text not null,
    fact_key text,
    revision bigint not null,
    body text not null
);

create index world_nodes_by_owner on world_nodes (owner, revision);
create index world_nodes_by_dedupe_key on world_nodes (dedupe_key);
create index world_nodes_by_fact_key on world_nodes (fact_key);
create index world_nodes_by_count on world_nodes (visibility, live, domain);

-- One row per edge: its newest state.
create table world_edges (
    id text not null primary key,
    source text not null,
    target text not null,
    type text not null,
    owner text not null,
    visibility text not null,
    live integer not null,
    revision bigint not null,
    body text not null
);

create index world_edges_by_source on world_edges (source, type);
create index world_edges_by_target on world_edges (target, type);
create index world_edges_by_owner on world_edges (owner, revision);

-- One row per decision, a chain: link is the hash of the row and of the previous link. commitment is a salted hash of the
-- payload, so that the payload can be deleted without breaking the chain.
create table world_decisions (
    seq bigint not null primary key,
    number bigint not null unique,
    decided_at text not null,
    verdict text not null check (verdict in ('approved', 'rejected', 'escalated')),
    commitment text not null,
    link text not null
);

-- At most one row per decision: the payload to which it is committed, and its owner ('' for the public part). Deleted for
-- the rights of a person.
create table world_decision_payloads (
    seq bigint not null primary key references world_decisions (seq),
    owner text not null,
    salt text not null,
    payload text not null
);

create index world_decision_payloads_by_owner on world_decision_payloads (owner);

-- One row per escalated proposal, with its owner; decided_seq is the decision that settled it, null while it waits.
create table world_pending (
    seq bigint not null primary key references world_decisions (seq),
    owner text not null,
    proposal text not null,
    decided_seq bigint
);

create index world_pending_by_decided on world_pending (decided_seq, seq);

-- One row per request with an idempotency key that was approved or escalated, so that a repetition gets the same answer.
-- scope is the requester.
create table world_requests (
    scope text not null,
    key text not null,
    request_sha256 text not null,
    seq bigint not null references world_decisions (seq),
    primary key (scope, key)
);

-- One row per onboarding capsule: the decision that created it, the pending one that would make it public, and who
-- claimed it. request_key combines the requester and the idempotency key.
create table world_capsules (
    id text not null primary key,
    request_key text unique,
    request_sha256 text not null,
    seq bigint not null references world_decisions (seq),
    public_seq bigint references world_decisions (seq),
    claimed_by text,
    created_at text not null
);
