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

-- At most one row: the chain as the last run saw it. Reading aims at the finalized block; level says how it was chosen.
create table if not exists raw_chain__head (
    head_block bigint not null,
    head_hash varchar not null,
    finalized_block bigint not null,
    finalized_hash varchar not null,
    level varchar not null,
    observed_at timestamp not null
);

-- Tables of the holders room; each statement is idempotent.
-- Amounts are BIGNUM in the token's smallest unit: exact over uint256 and its negatives under +, -, < and order by only.

-- One row per address that ever sent or received a token, the zero address apart: its balance up to the state row's block.
create table if not exists core_holders__balances (
    address blob not null,
    balance_raw bignum not null,
    first_seen_at timestamp not null,
    last_active_at timestamp not null,
    first_block bigint not null,
    last_block bigint not null
);

-- At most one row: the block up to which transfers are folded, and what passed through the zero address until then.
create table if not exists core_holders__state (
    block bigint not null,
    block_hash varchar not null,
    block_time timestamp not null,
    minted_raw bignum not null,
    sent_to_zero_raw bignum not null,
    zero_to_zero_raw bignum not null,
    transfers bigint not null
);

-- One row per address that was looked up: has it code of its own (an EIP-7702 delegation is none)?
create table if not exists core_holders__kinds (
    address varchar not null,
    kind varchar not null,
    block bigint not null
);

-- One row per persisted snapshot. The id is the block number as decimal text; reason: first, hourly, daily or demand.
create table if not exists core_holders__snapshots (
    id varchar not null,
    block bigint not null,
    block_time timestamp not null,
    reason varchar not null,
    recorded_at timestamp not null
);

-- One row per holder of a persisted snapshot.
create table if not exists core_holders__snapshot_balances (
    snapshot_id varchar not null,
    address varchar not null,
    balance_raw varchar not null,
    rank bigint not null
);

-- One row per answer of Blockscout, also of a failed one: counts are holders, reason says why they are missing.
create table if not exists raw_blockscout__holder_counts (
    source varchar not null,
    counters_holders bigint,
    token_holders bigint,
    reason varchar,
    fetched_at timestamp not null
);

-- At most one row: the token, and how far the chain is read. Times are UTC, backfill_percent is 0..100.
create table if not exists out_holders__status (
    chain_id bigint not null,
    token_address varchar,
    name varchar,
    symbol varchar,
    decimals integer,
    block bigint,
    finalized_block bigint,
    backfill_percent double,
    recorded_at timestamp not null
);

-- One row per readable holder list: the state at one block, its files and its proof. Amounts are decimal text;
-- zero_held_raw is what the zero address holds, which is a row of the list where it is not 0.
create table if not exists out_holders__lists (
    block bigint not null,
    block_hash varchar not null,
    block_time timestamp not null,
    level varchar not null,
    taken_at timestamp not null,
    snapshot boolean not null,
    holders bigint not null,
    sum_raw varchar not null,
    zero_held_raw varchar not null,
    csv_sha256 varchar not null,
    csv_bytes bigint not null,
    quality varchar not null,
    proof json not null,
    concentration json not null
);

-- One row per other source: its latest holder count, beside our own at the time of its answer.
create table if not exists out_holders__sources (
    source varchar not null,
    theirs bigint,
    reason varchar,
    fetched_at timestamp not null
);

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
