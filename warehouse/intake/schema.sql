-- Tables of intake, from the ledger; each statement is idempotent. Rows are as they are now
-- and say of nobody whose they are. Times UTC.

-- One row per intake, forgotten ones too.
create table if not exists raw_ledger__intakes (
    graph_key varchar primary key,
    lane varchar not null,
    profile_id varchar not null,
    day date not null,
    current_state varchar not null,
    review_state varchar not null,
    activation_state varchar not null,
    repeats boolean not null,
    forgotten boolean not null
);

-- At most one row: the ledger's seq up to which intakes are taken over.
create table if not exists core_intake__state (
    only_row boolean primary key check (only_row),
    seq bigint not null
);

-- One row per UTC day of receipt and lane.
create table if not exists out_intake__stats (
    day date not null,
    lane varchar not null,
    registrations bigint not null,
    distinct_identities bigint not null,
    forgotten bigint not null
);

-- One row per lane and runtime profile.
create table if not exists out_intake__funnel (
    lane varchar not null,
    profile_id varchar not null,
    registrations bigint not null,
    provisioned bigint not null,
    approved bigint not null,
    paid bigint not null,
    active bigint not null
);

-- At most one row: what of the settings the documents of intake state, and when that was looked at.
create table if not exists out_intake__settings (
    only_row boolean primary key check (only_row),
    chain_id bigint not null,
    missing_payment_settings varchar[] not null,
    app_url varchar,
    checked_at timestamp not null
);
