-- Tables of the contract-balance room, behind schema.sql for its types; each statement is idempotent. Times are UTC.

-- One row per block at which the balance was read, or per failed reading: reason says why, and the balance is null.
create table if not exists raw_bidwall__balances (
    contract_address varchar not null,
    block bigint,
    block_hash varchar,
    block_time timestamp,
    is_final boolean,
    balance_wei bignum,
    reason varchar,
    fetched_at timestamp not null
);

-- At most one row: the contract, its newest balance, and how far its events are read. No contract: none is configured.
create table if not exists out_bidwall__status (
    chain_id bigint not null,
    contract_address varchar,
    service_token varchar,
    trigger_wei varchar,
    balance_wei varchar,
    block bigint,
    block_hash varchar,
    block_time timestamp,
    is_final boolean,
    reason varchar,
    fetched_at timestamp,
    events_block bigint,
    events_block_hash varchar,
    events_block_time timestamp,
    events_complete boolean,
    recorded_at timestamp not null
);

-- One row per transfer that touches the contract: the newest 40 of each token, final and pending ones.
create table if not exists out_bidwall__events (
    token varchar not null,
    block bigint not null,
    log_index integer not null,
    transaction_hash varchar not null,
    sender varchar not null,
    recipient varchar not null,
    direction varchar not null,
    value_raw u256 not null,
    block_time timestamp not null,
    time_quality varchar not null,
    finality varchar not null
);
