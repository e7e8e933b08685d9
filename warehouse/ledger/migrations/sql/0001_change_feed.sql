-- Identity (at most one row), feed head (exactly one row), one feed row per change. Times are RFC 3339 text in UTC.
create table ledger_identity (
    only_row integer not null primary key check (only_row = 1),
    chain_id bigint not null,
    genesis_hash text not null,
    token_address text not null,
    stamped_at text not null
);

create table ledger_head (
    only_row integer not null primary key check (only_row = 1),
    seq bigint not null check (seq >= 0)
);

insert into ledger_head (only_row, seq) values (1, 0);

create table ledger_changes (
    seq bigint not null primary key check (seq > 0),
    kind text not null,
    entity_id text not null,
    recorded_at text not null
);
