-- Events of configured contracts beside the token's own transfers; read like those, each kind with its checkpoints.

-- One row per kind of event: the table of its rows, the contract that it was read of, and from which block on.
create table if not exists raw_chain__subjects (
    rows_table varchar not null,
    address varchar not null,
    start_block bigint not null
);

-- One row per ERC-20 Transfer event, of whatever token, from or to the contract of the contract-balance family.
create table if not exists raw_chain__contract_transfers (
    block_number bigint not null,
    log_index integer not null,
    tx_hash blob not null,
    token_address blob not null,
    from_address blob not null,
    to_address blob not null,
    value_raw u256 not null,
    block_time timestamp not null,
    block_time_quality time_quality not null
);

create table if not exists raw_chain__contract_ranges as from raw_chain__ranges limit 0;
create table if not exists raw_chain__contract_tip_blocks as from raw_chain__tip_blocks limit 0;
create table if not exists raw_chain__contract_tip_transfers as from raw_chain__contract_transfers limit 0;

-- One row per attestation of the trust registry at or below finality, ordered by (block_number, log_index).
create table if not exists raw_chain__attestations (
    block_number bigint not null,
    log_index integer not null,
    tx_hash blob not null,
    agent blob not null,
    attester blob not null,
    job_id blob not null,
    number bigint not null,
    score bigint not null,
    attested_at timestamp not null,
    metadata_uri varchar not null,
    block_time timestamp not null,
    block_time_quality time_quality not null
);

create table if not exists raw_chain__attestation_ranges as from raw_chain__ranges limit 0;
