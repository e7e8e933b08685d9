-- Tables of connect, from the ledger; each statement is idempotent. Rows are as they are now
-- and say of nobody whose they are.

-- One row per session, those too that were forgotten or are deleted in the ledger.
create table if not exists raw_ledger__connect_sessions (
    session_key varchar primary key,
    day date not null,
    assistant varchar,
    os varchar,
    runtime_profile varchar,
    steps integer not null,
    done integer not null,
    skipped integer not null,
    failed integer not null,
    finished boolean not null,
    registered boolean not null,
    closed boolean not null,
    forgotten boolean not null
);

-- One row per session and step of its plan.
create table if not exists raw_ledger__connect_steps (
    session_key varchar not null,
    position integer not null,
    step_id varchar not null,
    state varchar not null,
    failures integer not null
);

-- At most one row: the ledger's seq up to which sessions are taken over.
create table if not exists core_connect__state (
    only_row boolean primary key check (only_row),
    seq bigint not null
);

-- One row per UTC day on which sessions were opened.
create table if not exists out_connect__daily (
    day date not null,
    sessions bigint not null,
    planned bigint not null,
    registered bigint not null,
    finished bigint not null,
    closed bigint not null
);

-- One row per assistant and step.
create table if not exists out_connect__steps (
    assistant varchar not null,
    step_id varchar not null,
    position integer not null,
    sessions bigint not null,
    reached bigint not null,
    done bigint not null,
    skipped bigint not null,
    failed bigint not null,
    failures bigint not null
);
