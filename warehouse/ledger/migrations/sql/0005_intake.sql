-- Intakes, their senders, and their steps. Times are RFC 3339 text in UTC.

-- One row per intake, including forgotten ones, of which lane, profile, UTC day of receipt and states remain.
-- details_json is the request without contact and person. identity_digest is the HMAC of what two requests of the same
-- sender have in common; repeats is 1 if there was such a request before, and linked_to is the first of them.
-- idempotency_digest is the HMAC of the client's Idempotency-Key, request_digest that of the body. graph_key is the name
-- of the intake in the graph and the warehouse, which must not contain its id, because the id gives access to it.
create table intakes (
    intake_id text not null primary key,
    graph_key text not null unique,
    lane text not null check (lane in ('agent', 'human', 'enterprise')),
    profile_id text not null,
    source text not null,
    received_at text not null,
    consent_at text,
    consent_version text,
    current_state text not null check (current_state in ('received', 'provisioned', 'awaiting_activation', 'active')),
    review_state text not null check (review_state in ('pending_review', 'approved', 'changes_requested')),
    activation_state text not null
    check (activation_state in ('not_started', 'awaiting_payment', 'activated', 'suspended')),
    changed_at text not null,
    details_json text not null,
    agent_id text,
    identity_digest text,
    repeats integer not null check (repeats in (0, 1)),
    linked_to text,
    idempotency_digest text,
    request_digest text,
    claim_id text,
    payer text,
    forgotten_at text
);

create unique index intakes_of_request on intakes (idempotency_digest) where idempotency_digest is not null;

create index intakes_of_identity on intakes (lane, identity_digest) where identity_digest is not null;

create index intakes_of_agent on intakes (agent_id) where agent_id is not null;

create index intakes_of_claim on intakes (claim_id) where claim_id is not null;

create index intakes_by_receipt on intakes (received_at);

-- One row per intake that is not forgotten: the contact data and the name of its sender. Only `svc intake export` reads
-- it, except for the names that the interface includes in a summary.
create table intake_contacts (
    intake_id text not null primary key references intakes (intake_id),
    person_json text not null
);

-- One row per step of an intake, counted from 1; taken_by is `service`, `operator:NAME` or `claim:ID`.
create table intake_steps (
    intake_id text not null references intakes (intake_id),
    position integer not null,
    name text not null,
    taken_at text not null,
    taken_by text not null,
    primary key (intake_id, position)
);
