-- Tables of the warehouse; applied again when the schema changes, so each statement is idempotent.
-- Amounts are u256: four 64-bit limbs, most significant first, so that structs order as the numbers do.
create schema if not exists main;

create type if not exists u256 as struct(limb3 ubigint, limb2 ubigint, limb1 ubigint, limb0 ubigint);
create type if not exists time_quality as enum ('exact', 'estimated');

-- One row: which schema was applied last.
create table if not exists schema_applied (schema_sha256 varchar not null);

-- One row: what this warehouse is of. Another chain or token is refused.
create table if not exists raw_chain__identity (
    chain_id bigint not null,
    genesis_hash varchar not null,
    token_address varchar not null,
    start_block bigint not null,
    stamped_at timestamp not null
);

-- One row per Transfer event at or below finality, ordered by (block_number, log_index).
create table if not exists raw_chain__transfers (
    block_number bigint not null,
    log_index integer not null,
    tx_hash blob not null,
    from_address blob not null,
    to_address blob not null,
    value_raw u256 not null,
    block_time timestamp not null,
    block_time_quality time_quality not null
);

-- One row per contiguous range read: the checkpoint, written in the transaction that holds the range's rows.
create table if not exists raw_chain__ranges (
    from_block bigint not null,
    to_block bigint not null,
    to_block_hash varchar not null,
    to_block_time timestamp not null,
    log_count bigint not null,
    payload_sha256 varchar not null,
    rpc_host varchar not null,
    reasked boolean not null,
    recorded_at timestamp not null
);

-- One row per block above finality whose transfers are held, at most the newest 256; a chain by parent_hash.
create table if not exists raw_chain__tip_blocks (
    number bigint not null,
    hash varchar not null,
    parent_hash varchar not null,
    block_time timestamp not null
);

-- One row per Transfer event of a block in raw_chain__tip_blocks: pending, may still leave the chain.
create table if not exists raw_chain__tip_transfers (
    block_number bigint not null,
    log_index integer not null,
    tx_hash blob not null,
    from_address blob not null,
    to_address blob not null,
    value_raw u256 not null,
    block_time timestamp not null,
    block_time_quality time_quality not null
);
