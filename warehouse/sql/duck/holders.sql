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
