-- name: bidwall_balance_history
-- One row per reading of the balance, the newest 500, oldest first: time of the block (UTC) and balance in ETH.
select block_time, balance_wei::double / 1e18 as balance_eth
from (
    select block_time, balance_wei, fetched_at
    from raw_bidwall__balances
    where balance_wei is not null
    order by fetched_at desc
    limit 500
)
order by fetched_at

-- name: bidwall_balance_series
-- One row per $width of time since the first reading of $contract, at most the newest $most: the last balance of a block
-- in it, its block, the least and the greatest balance (wei as decimal text), the number of successful readings, and the
-- reason of the last failed one.
with buckets as (
    select
        time_bucket($width::interval, coalesce(block_time, fetched_at)) as start,
        max_by(
            {block: block, hash: block_hash, time: block_time, is_final: is_final, balance_wei: balance_wei},
            fetched_at
        ) filter (where balance_wei is not null) as latest,
        min(balance_wei) as lowest,
        max(balance_wei) as highest,
        count(balance_wei) as readings,
        max_by(reason, fetched_at) filter (where balance_wei is null) as reason
    from raw_bidwall__balances
    where contract_address = $contract
    group by all
),
spans as (
    select unnest(generate_series(min(start), max(start), $width::interval)) as start
    from buckets
)
select
    start,
    latest.block,
    latest.hash,
    latest.time,
    latest.is_final,
    latest.balance_wei::varchar,
    lowest::varchar,
    highest::varchar,
    coalesce(readings, 0),
    reason
from (from spans order by start desc limit $most) as newest
left join buckets using (start)
order by start

-- name: bidwall_eth_usd
-- At most one row: the served price of ETH in USD. Times are UTC.
select price, source, quality, stale, reason, observed_at, fetched_at
from out_market__eth_price

-- name: bidwall_events
-- One row per transfer event of $token (null: of any token), newest first, at most $limit. Values are u256, times UTC.
select
    token, block, log_index, transaction_hash, sender, recipient, direction, value_raw, block_time, time_quality,
    finality
from out_bidwall__events
where $token is null or token = $token
order by block desc, log_index desc
limit $limit

-- name: bidwall_newest_events
-- One row per transfer event, the newest ten, newest first. Times are UTC.
select block, log_index, token, direction, sender, recipient, block_time, finality
from out_bidwall__events
order by block desc, log_index desc
limit 10

-- name: bidwall_status
-- At most one row: the contract, its newest balance (wei as decimal text), how far its events are read; times are UTC.
select
    chain_id, contract_address, service_token, trigger_wei, balance_wei, block, block_hash, block_time, is_final,
    reason, fetched_at, events_block, events_block_hash, events_block_time, events_complete, events_reason, recorded_at
from out_bidwall__status

-- name: contract_dispute
-- At most one row: the fact of an open dispute about the contract's transfers; a balance takes precedence over others.
select fact
from out_chain__disputes
where rows_table = 'raw_chain__contract_transfers' and settled_at is null
order by fact
limit 1

-- name: events_reach
-- At most one row: the last block up to which the contract's transfers are stored, its hash and its time (UTC).
select to_block, to_block_hash, to_block_time
from raw_chain__contract_ranges
order by to_block desc
limit 1

-- name: last_balance
-- At most one row: the newest balance of $contract that was read. Wei as decimal text, times UTC.
select block, block_hash, block_time, is_final, balance_wei::varchar, fetched_at
from raw_bidwall__balances
where contract_address = $contract and balance_wei is not null
order by fetched_at desc
limit 1

-- name: last_reading
-- At most one row: the reason why the newest reading of $contract's balance failed; null if it succeeded.
select reason
from raw_bidwall__balances
where contract_address = $contract
order by fetched_at desc
limit 1

-- name: newest_events
-- One row per transfer from or to $contract (20 bytes), the newest $per_token of each token, final and pending ones.
with touching as (
    select *, 'final' as finality from raw_chain__contract_transfers
    union all by name
    select *, 'pending' as finality from raw_chain__contract_tip_transfers
)
insert into out_bidwall__events by name
select
    '0x' || lower(hex(token_address)) as token,
    block_number as block,
    log_index,
    '0x' || lower(hex(tx_hash)) as transaction_hash,
    '0x' || lower(hex(from_address)) as sender,
    '0x' || lower(hex(to_address)) as recipient,
    case when from_address = to_address then 'self' when to_address = $contract then 'in' else 'out' end as direction,
    value_raw,
    block_time,
    block_time_quality::varchar as time_quality,
    finality
from touching
qualify row_number() over (partition by token_address order by block_number desc, log_index desc) <= $per_token
