-- Tables of paid access, from the ledger; each statement is idempotent. Rows are as they are
-- now, and carry no address, hash, signature or nonce. Amounts are in the coin's smallest unit, times UTC.

-- One row per quote.
create table if not exists raw_ledger__quotes (
    quote_id varchar primary key,
    plan_id varchar not null,
    amount_units bigint not null,
    issued_at timestamp not null,
    expires_at timestamp not null,
    state varchar not null
);

-- One row per claim.
create table if not exists raw_ledger__claims (
    claim_id varchar primary key,
    quote_id varchar not null,
    plan_id varchar not null,
    tier varchar not null,
    chain_id bigint not null,
    block_number bigint not null,
    amount_units bigint not null,
    state varchar not null,
    issued_at timestamp not null,
    changed_at timestamp not null,
    access_expires_at timestamp,
    final_at timestamp
);

-- One row per API key, however it was made.
create table if not exists raw_ledger__keys (
    key_id varchar primary key,
    family_id varchar not null,
    claim_id varchar,
    tier varchar not null,
    state varchar not null,
    paid_until timestamp,
    created_at timestamp not null,
    changed_at timestamp not null
);

-- One row per transfer that came with a claim and that no claim used then; its amounts as text, since other tokens use
-- all of uint256.
create table if not exists raw_ledger__unmatched_payments (
    payment_id varchar primary key,
    quote_id varchar,
    chain_id bigint not null,
    asset varchar not null,
    amount_units varchar not null,
    block_number bigint not null,
    paid_at timestamp not null,
    code varchar not null,
    state varchar not null,
    recorded_at timestamp not null,
    changed_at timestamp not null,
    refund_units varchar
);

-- for files from before cases
alter table raw_ledger__unmatched_payments alter column quote_id drop not null;
alter table raw_ledger__unmatched_payments add column if not exists refund_units varchar;

-- At most one row: the ledger's seq up to which changes are taken over.
create table if not exists core_access__state (
    only_row boolean primary key check (only_row),
    seq bigint not null
);

-- One row per UTC day of issue and plan.
create table if not exists out_access__revenue_daily (
    day date not null,
    plan_id varchar not null,
    claims bigint not null,
    revenue_units hugeint not null,
    reversed_claims bigint not null,
    reversed_units hugeint not null
);

-- One row per UTC day of the quote and plan.
create table if not exists out_access__funnel (
    day date not null,
    plan_id varchar not null,
    quotes bigint not null,
    paid bigint not null,
    claimed bigint not null
);
