-- Tables of the warehouse; applied again when the schema changes, so each statement is idempotent.
-- Amounts are u256: four 64-bit limbs, most significant first, so that structs order as the numbers do.
create schema if not exists main;

create type if not exists u256 as struct(limb3 ubigint, limb2 ubigint, limb1 ubigint, limb0 ubigint);
create type if not exists time_quality as enum ('exact', 'estimated');

-- One row: which schema was applied last.
create table if not exists schema_applied (schema_sha256 varchar not null);

-- One row per suite: the last block whose rows passed it, so that rows are checked when they are new and not again.
create table if not exists core_checks__watermarks (
    suite varchar primary key,
    block bigint not null
);

-- One row per suite: what it asserted when it last passed, so that equal facts are not judged again.
create table if not exists core_checks__passed (
    suite varchar primary key,
    asserted_sha256 varchar not null,
    passed_at timestamp not null
);

-- Questions to other services; each statement is idempotent.

-- One row per question to a source within the last week, its second try included.
create table if not exists raw_feeds__attempts (
    source varchar not null,
    asked_at timestamp not null,
    latency_ms bigint not null,
    ok boolean not null,
    reason varchar,
    quality varchar,
    ask_again_at timestamp
);
