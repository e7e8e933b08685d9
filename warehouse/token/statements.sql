-- name: held_by_largest
-- One row per number of largest holders, from one to all of $rows: their combined share of all balances.
-- The numbers grow by a quarter at a time, with 10, 100 and 1,000 among them.
select holders, round(least(1, sum(share) over (order by holders)), 6)
from (
    select max(rank) as holders, sum(share) as share
    from $rows
    where share > 0
    group by floor(ln(rank) / ln(1.25)), rank <= 10, rank <= 100, rank <= 1000
)
order by holders

-- name: append_partition_rows
-- Appends the transfers of $token in the partitions' files to those of the warehouse, in the order of the files.
insert into raw_chain__transfers by name
select * exclude (token) from read_parquet($files::varchar[]) where token = $token

-- name: append_rows
-- Appends the registered rows `incoming` to $table, by the names of its columns: one per event, times UTC.
insert into $table by name
select * from incoming

-- name: balances_of
-- One row per requested address that was ever seen: 0x text, balance as decimal text in smallest units.
select '0x' || lower(hex(address)), balance_raw::varchar
from core_holders__balances
where address in (select unnest($addresses::blob[]))

-- name: balances_to_compare
-- At most $most holders (0x text, balance as decimal text in smallest units) in an order that follows from $seed: those
-- whose balance changed after block $since, then at most $others of the rest.
select '0x' || lower(hex(address)), balance_raw::varchar
from (
    (
        select address, balance_raw, 0 as place, hash(address, $seed) as chance
        from core_holders__balances
        where balance_raw > 0::bignum and last_block > $since
        order by chance
        limit $most
    )
    union all
    (
        select address, balance_raw, 1 as place, hash(address, $seed) as chance
        from core_holders__balances
        where balance_raw > 0::bignum and last_block <= $since
        order by chance
        limit $others
    )
)
order by place, chance
limit $most

-- name: chain_identity
-- At most one row: the chain id, genesis hash, token and first block to which this warehouse belongs.
select chain_id, genesis_hash, token_address, start_block
from raw_chain__identity

-- name: count_transfers
-- One row: the number of transfers in ($after, $upto].
select count(*)
from raw_chain__transfers
where block_number > $after and block_number <= $upto

-- name: csv_lines
-- The lines `address,balance_raw` of the ranked list, largest first, joined into texts of 20,000 lines.
select string_agg(address || ',' || balance_raw, chr(10) order by rank) || chr(10)
from holder_list
group by rank // 20000
order by rank // 20000

-- name: computed_holders
-- One row per holder of the registered rows `holdings`, unordered.
select
    '0x' || lower(hex(address)) as address,
    balance_raw::bignum as balance_raw,
    first_seen_at::timestamp as first_seen_at,
    first_held_at::timestamp as first_held_at,
    last_active_at::timestamp as last_active_at
from holdings

-- name: daily_holders
-- One row per day, the newest 500, oldest first: its start (UTC) and the holders at its end.
select start, holders
from (select start, holders from out_holders__daily order by start desc limit 500)
order by start

-- name: delete_tip_blocks
-- Drops the stored blocks above finality that lie outside [first, last].
delete from $tip_blocks
where number not between ? and ?

-- name: delete_tip_rows
-- Drops the pending rows of $tip_rows whose block lies outside [first, last].
delete from $tip_rows
where block_number not between ? and ?

-- name: drawn_block
-- One row: a block with transfers in [$first, $last], the newest one or one drawn by $seed.
select block_number
from raw_chain__transfers
where block_number between $first and $last
order by case when $newest then -block_number end, hash(block_number, $seed)
limit 1

-- name: drawn_ranges
-- Up to $count ranges with transfers at or below block $upto: the newest first, then others in an order drawn by $seed.
select from_block, to_block, rpc_host, from_block = newest_from as newest
from (
    select from_block, to_block, rpc_host, max(from_block) over () as newest_from
    from raw_chain__ranges
    where log_count > 0 and to_block <= $upto
)
order by newest desc, hash(from_block, $seed)
limit $count

-- name: fold_checkpoint
-- At most one row: the last block read, its hash and time.
select to_block, to_block_hash, to_block_time
from raw_chain__ranges
order by to_block desc
limit 1

-- name: fold_state
-- At most one row: the block up to which transfers are folded; amounts as decimal text in smallest units.
select
    block, block_hash, block_time, minted_raw::varchar, sent_to_zero_raw::varchar, zero_to_zero_raw::varchar, transfers
from core_holders__state

-- name: folded_holders
-- One row per holder according to the folded balances, unordered. $zero_held is the zero address's balance as decimal
-- text in smallest units; `first_held` contains the time of each address's first balance above zero.
select '0x' || lower(hex(held.address)) as address, balance_raw, first_seen_at, first_held_at, last_active_at
from core_holders__balances as held
left join first_held on held.address = first_held.address
where balance_raw > 0::bignum
union all
select
    '0x' || lower(hex($zero::blob)),
    $zero_held::varchar::bignum,
    min(block_time),
    (select min(first_held_at) from first_held where address = $zero),
    max(block_time)
from raw_chain__transfers
where $zero_held::varchar <> '0' and to_address = $zero and block_number <= $block
having $zero_held::varchar <> '0'

-- name: known_zero_balances
-- One row per proven list, oldest first: its block, and the zero address's balance there as decimal text in smallest
-- units.
select block, zero_held_raw
from out_holders__lists
where proof->>'verdict' = 'proven'
order by block

-- name: held_above_zero
-- One row: sum of the balances above zero as decimal text in smallest units.
select coalesce(sum(balance_raw), 0::bignum)::varchar
from core_holders__balances
where balance_raw > 0::bignum

-- name: folded_partitions
-- One row per address of $token that the partitions' files touch: its net change over all of them, as 64-bit limbs m0
-- (lowest) to m2 and a signed rest m3, carried as in balance_deltas.
with sums as (
    select
        address,
        sum(s3::hugeint) as s3,
        sum(s2::hugeint) as s2,
        sum(s1::hugeint) as s1,
        sum(s0::hugeint) as s0,
        min(first_seen_at) as first_seen_at,
        max(last_active_at) as last_active_at,
        min(first_block) as first_block,
        max(last_block) as last_block
    from read_parquet($files::varchar[])
    where token = $token
    group by address
),
carried as (
    select
        * exclude (s3, s2, s1, s0),
        (s0 & 18446744073709551615)::ubigint as m0,
        s1 + (s0 >> 64) as n1,
        (n1 & 18446744073709551615)::ubigint as m1,
        s2 + (n1 >> 64) as n2,
        (n2 & 18446744073709551615)::ubigint as m2,
        s3 + (n2 >> 64) as m3
    from sums
)
select * exclude (n1, n2) from carried

-- name: holder_list_rows
-- One row per recorded list, newest first: block, when taken (UTC), whether it is a persisted snapshot.
select block, taken_at, snapshot
from out_holders__lists
order by block desc

-- name: holder_lists
-- One row per readable holder list, newest first. Times are UTC, sum_raw is decimal text in smallest units.
select
    block, block_hash, block_time, level, taken_at, snapshot, holders, sum_raw, zero_held_raw, quality, proof::varchar,
    concentration::varchar
from out_holders__lists
order by block desc

-- name: contract_moves
-- One row per direction of the stored transfers of $token up to $upto, to ($outgoing false) and from $contract: limb sums,
-- most significant first.
select outgoing, sum(value_raw.limb3), sum(value_raw.limb2), sum(value_raw.limb1), sum(value_raw.limb0)
from (
    select value_raw, unnest([false, true]) as outgoing, from_address, to_address
    from raw_chain__contract_transfers
    where token_address = $token and block_number <= $upto
)
where if(outgoing, from_address, to_address) = $contract
group by outgoing

-- name: decided_disputes
-- One row per dispute that receipts have decided since $since (UTC), newest first.
select fact, subject, block, answers::varchar, first_seen_at, last_seen_at, settled_at, settled_by
from out_chain__disputes
where settled_by = 'receipts' and settled_at >= $since
order by settled_at desc, block

-- name: delivering_hosts
-- One row per node that delivered a stored range, in order.
select distinct rpc_host
from $ranges
order by rpc_host

-- name: doubted_attestations
-- One row per stretch of blocks in which attestations are missing or wrong: between two attestations of an agent whose
-- numbers are not consecutive, and from the first attestation of an agent whose score the registry contradicts.
with numbered as (
    select
        number, block_number,
        lag(number, 1, 0) over (partition by agent order by block_number, log_index) as number_before,
        lag(block_number, 1, 0) over (partition by agent order by block_number, log_index) as block_before
    from raw_chain__attestations
)
select block_before as first_block, block_number as last_block
from numbered
where number <> number_before + 1
union
select coalesce(min(held.block_number), 0), checks.block
from core_trust__checks as checks
left join raw_chain__attestations as held on '0x' || lower(hex(held.agent)) = checks.agent
where checks.block = (select max(block) from core_trust__checks)
    and (checks.theirs_meets <> checks.ours_meets or checks.theirs_score <> checks.ours_score)
group by checks.agent, checks.block

-- name: doubted_contract_transfers
-- One row per block, as first and last, in which the service token's transfers from or to the watched contract differ
-- from those among all transfers of the token. If none differ, all blocks while the contract's balance contradicts them.
with watched as (
    select unhex(substr(address, 3)) as contract
    from raw_chain__subjects
    where rows_table = 'raw_chain__contract_transfers'
),
reach as (
    select
        greatest((select min(from_block) from raw_chain__contract_ranges), (select min(from_block) from raw_chain__ranges))
            as first_block,
        least((select max(to_block) from raw_chain__contract_ranges), (select max(to_block) from raw_chain__ranges))
            as last_block
),
one as (
    select block_number, log_index, from_address, to_address, value_raw
    from raw_chain__contract_transfers
    where token_address = (select unhex(substr(token_address, 3)) from raw_chain__identity)
        and block_number between (select first_block from reach) and (select last_block from reach)
),
other as (
    select block_number, log_index, from_address, to_address, value_raw
    from raw_chain__transfers
    where (from_address = (select contract from watched) or to_address = (select contract from watched))
        and block_number between (select first_block from reach) and (select last_block from reach)
)
select distinct block_number as first_block, block_number as last_block
from ((from one except from other) union all (from other except from one))
union
select (select min(from_block) from raw_chain__contract_ranges), max(block)
from out_chain__disputes
where rows_table = 'raw_chain__contract_transfers' and fact = 'balance' and settled_at is null
    and not exists ((from one except from other) union all (from other except from one))
having count(*) > 0

-- name: doubted_transfers
-- At most one row, if the proof of the newest list failed: the first and last block that the list covers.
select (select min(from_block) from raw_chain__ranges), block
from (select block, proof from out_holders__lists order by block desc limit 1)
where proof->>'verdict' = 'failed'

-- name: holder_page
-- One row: holders with rank in ($after, $after + $limit] of a list as a JSON array, by rank.
select to_json(
    coalesce(
        list(
            {
                rank: rank,
                address: address,
                balanceRaw: balance_raw,
                balance: balance,
                share: share,
                firstSeenAt: strftime(first_seen_at, '%Y-%m-%dT%H:%M:%SZ'),
                firstHeldAt: strftime(first_held_at, '%Y-%m-%dT%H:%M:%SZ'),
                lastActiveAt: strftime(last_active_at, '%Y-%m-%dT%H:%M:%SZ'),
                kind: kind,
                cohort: cohort
            }
            order by rank
        ),
        []
    )
)::varchar
from $rows
where rank > $after and rank <= $after + $limit

-- name: holder_sources
-- One row per other source: its latest holder count, or the reason why it has none.
select source, theirs, reason, fetched_at
from out_holders__sources
order by source

-- name: holder_status
-- At most one row: chain, token as its contract names itself, and how far the chain is read.
select chain_id, token_address, name, symbol, decimals, block, finalized_block, backfill_percent
from out_holders__status

-- name: holders_held
-- One row: sum of all balances as decimal text in smallest units, how many are negative, and how many are above zero.
select
    coalesce(sum(balance_raw), 0::bignum)::varchar,
    count(*) filter (balance_raw < 0::bignum),
    count(*) filter (balance_raw > 0::bignum)
from core_holders__balances

-- name: last_compared_block
-- One row: the block of the newest list whose balances were all compared with another node; null if there is none.
select max(block)
from out_holders__lists
where proof ->> '$.nodes.balances.complete' = 'true'

-- name: last_checkpoint
-- At most one row: the newest contiguous range read, its last block (number, hash), its rows, and the last block's time.
select from_block, to_block, to_block_hash, log_count, to_block_time
from $ranges
order by to_block desc
limit 1

-- name: insert_deltas
-- Inserts the changes of the touched addresses as their first balances.
insert into core_holders__balances
    (address, balance_raw, first_seen_at, last_active_at, first_block, last_block)
select address, delta_raw, first_seen_at, last_active_at, first_block, last_block
from holder_deltas

-- name: merge_deltas
-- Adds the changes of the touched addresses to their balances; a new address starts with its change.
merge into core_holders__balances as held
using holder_deltas as moved
on held.address = moved.address
when matched then update set
    balance_raw = held.balance_raw + moved.delta_raw,
    last_active_at = moved.last_active_at,
    last_block = moved.last_block
when not matched then insert
    (address, balance_raw, first_seen_at, last_active_at, first_block, last_block)
    values (
        moved.address, moved.delta_raw, moved.first_seen_at, moved.last_active_at, moved.first_block, moved.last_block
    )

-- name: newest_disputes
-- One row per dispute, open ones first, then the newest: at most twenty. Times are UTC.
select rows_table, fact, subject, block, answers::varchar as answers, first_seen_at, last_seen_at, settled_at, settled_by
from out_chain__disputes
order by settled_at is not null, last_seen_at desc
limit 20

-- name: newest_ranges
-- One row per checkpoint, the ten newest first. Times are UTC.
select from_block, to_block, log_count, rpc_host, reasked, recorded_at
from raw_chain__ranges
order by from_block desc
limit 10

-- name: open_disputes
-- One row per open dispute about the rows of $rows_table (null: of any table), oldest first. Times are UTC.
select fact, subject, block, answers::varchar, first_seen_at, last_seen_at, settled_at, settled_by
from out_chain__disputes
where settled_at is null and coalesce(rows_table = $rows_table, true)
order by first_seen_at, fact, subject nulls first

-- name: prune_disputes
-- Drops settled disputes except the newest thousand.
delete from out_chain__disputes
where settled_at < (
    select min(settled_at)
    from (select settled_at from out_chain__disputes where settled_at is not null order by settled_at desc limit 1000)
)

-- name: partition_deltas
-- One row per token and address, except the zero address, that the registered `partition_rows` touch: its net change in
-- smallest units, as sums of 64-bit limbs, most significant first. Parquet has no HUGEINT; these sums fit 38 digits.
with moves as (
    select token, to_address as address, true as incoming, value_raw, block_time, block_number
    from partition_rows
    union all
    select token, from_address, false, value_raw, block_time, block_number
    from partition_rows
)
select
    token,
    address,
    sum(if(incoming, value_raw.limb3::hugeint, -(value_raw.limb3::hugeint)))::decimal(38, 0) as s3,
    sum(if(incoming, value_raw.limb2::hugeint, -(value_raw.limb2::hugeint)))::decimal(38, 0) as s2,
    sum(if(incoming, value_raw.limb1::hugeint, -(value_raw.limb1::hugeint)))::decimal(38, 0) as s1,
    sum(if(incoming, value_raw.limb0::hugeint, -(value_raw.limb0::hugeint)))::decimal(38, 0) as s0,
    min(block_time) as first_seen_at,
    max(block_time) as last_active_at,
    min(block_number) as first_block,
    max(block_number) as last_block
from moves
where address <> $zero
group by token, address
order by token, address

-- name: partition_through_zero
-- One row per token of `partition_rows`: limb sums (most significant first) from zero, to zero and from zero to zero.
select
    token,
    [sum(value_raw.limb3) filter (minted), sum(value_raw.limb2) filter (minted),
     sum(value_raw.limb1) filter (minted), sum(value_raw.limb0) filter (minted)] as minted,
    [sum(value_raw.limb3) filter (to_zero), sum(value_raw.limb2) filter (to_zero),
     sum(value_raw.limb1) filter (to_zero), sum(value_raw.limb0) filter (to_zero)] as sent_to_zero,
    [sum(value_raw.limb3) filter (minted and to_zero), sum(value_raw.limb2) filter (minted and to_zero),
     sum(value_raw.limb1) filter (minted and to_zero), sum(value_raw.limb0) filter (minted and to_zero)] as zero_to_zero
from (
    select token, value_raw, from_address = $zero as minted, to_address = $zero as to_zero
    from partition_rows
    where from_address = $zero or to_address = $zero
)
group by token

-- name: partition_transfers
-- One row per transfer, in the order of `partition_rows`: by token, then as in raw_chain__transfers.
select
    token, block_number, log_index, tx_hash, from_address, to_address, value_raw, block_time, block_time_quality
from partition_rows

-- name: ranges_to_reread
-- Up to $count stored ranges in an order drawn by $seed, those with transfers of $addresses first. With $firsts and
-- $lasts, only the ranges that overlap such blocks.
with wanted as (
    select unnest($firsts::bigint[]) as first_block, unnest($lasts::bigint[]) as last_block
),
moved as (
    select distinct block_number
    from raw_chain__transfers
    where from_address in (select unnest($addresses::blob[])) or to_address in (select unnest($addresses::blob[]))
)
select from_block, to_block, log_count, payload_sha256, rpc_host
from $ranges as stored
where log_count <= $most_rows
    and (
        len($firsts::bigint[]) = 0
        or exists (select 1 from wanted where to_block >= first_block and from_block <= last_block)
    )
order by
    exists (select 1 from moved where block_number between stored.from_block and stored.to_block) desc,
    md5($seed || '/' || from_block::varchar)
limit $count

-- name: readable_lists
-- One row per readable holder list: its block and its number of holders.
select block, holders
from out_holders__lists
order by block

-- name: service_token_moves
-- One row per direction of the service token's transfers up to $upto, to ($outgoing false) and from $contract: limb sums,
-- most significant first.
select outgoing, sum(value_raw.limb3), sum(value_raw.limb2), sum(value_raw.limb1), sum(value_raw.limb0)
from (
    select value_raw, unnest([false, true]) as outgoing, from_address, to_address
    from raw_chain__transfers
    where block_number <= $upto and (from_address = $contract or to_address = $contract)
)
where if(outgoing, from_address, to_address) = $contract
group by outgoing

-- name: settle_dispute
-- Ends the open dispute about one fact.
update out_chain__disputes
set settled_at = $now, settled_by = $by
where rows_table = $rows_table and fact = $fact and subject is not distinct from $subject and settled_at is null

-- name: snapshot_counts
-- One row per snapshot, the newest 500, oldest first: block time (UTC) and holders.
select block_time, holders
from (select block, block_time, holders from out_holders__lists where snapshot order by block desc limit 500)
order by block

-- name: range_totals
-- One row: the number of block ranges read, the number of those read a second time, and the nodes that delivered rows.
select
    count(*),
    count(*) filter (reasked),
    coalesce(list(distinct rpc_host) filter (log_count > 0), [])
from raw_chain__ranges

-- name: stored_range
-- At most one row: the stored range with exactly these first and last blocks.
select from_block, to_block, log_count, payload_sha256, rpc_host
from $ranges
where from_block = ? and to_block = ?

-- name: through_zero
-- One row per kind of transfer in ($after, $upto] that the zero address takes part in: whether it is the sender, whether
-- it is the recipient, and limb sums (most significant first).
select
    from_address = $zero as from_zero,
    to_address = $zero as to_zero,
    sum(value_raw.limb3),
    sum(value_raw.limb2),
    sum(value_raw.limb1),
    sum(value_raw.limb0)
from raw_chain__transfers
where block_number > $after and block_number <= $upto and (from_address = $zero or to_address = $zero)
group by from_zero, to_zero

-- name: tip_blocks
-- One row per stored block above finality, lowest first: its number, hash, parent's hash and UTC time.
select number, hash, parent_hash, block_time
from $tip_blocks
order by number

-- name: unknown_kinds
-- Addresses (0x text) among the $largest holders whose kind was never looked up, largest first.
select '0x' || lower(hex(address))
from (
    select address, balance_raw
    from core_holders__balances
    where balance_raw > 0::bignum
    order by balance_raw desc, address
    limit $largest
)
where '0x' || lower(hex(address)) not in (select address from core_holders__kinds)
order by balance_raw desc, address

-- name: update_dispute
-- Writes the newest answers into the open dispute about one fact. Returns one row if there is such a dispute.
update out_chain__disputes
set block = $block, answers = $answers, last_seen_at = $last_seen_at, settled_at = $settled_at,
    settled_by = $settled_by
where rows_table = $rows_table and fact = $fact and subject is not distinct from $subject and settled_at is null
returning fact

-- name: write_fast
-- Writes row groups of hashes and addresses uncompressed: trying FSST on them takes a tenth of a backfill's time, and
-- would make its table a third smaller. Each is written once it is full, and not five at a time or all at the commit.
set disabled_compression_methods = 'fsst,dict_fsst';
set write_buffer_row_group_count = 1

-- name: write_small
-- Restores every compression method, for all other tables.
reset disabled_compression_methods;
reset write_buffer_row_group_count

-- name: block_of_transfer
-- At most one row: the block of the transfer at $position (from 0) among those in ($after, $upto].
select block_number
from raw_chain__transfers
where block_number > $after and block_number <= $upto
order by block_number
limit 1 offset $position

-- name: history_files
-- One row per file of the history of balances.
select kind, name, from_block, to_block, to_time, rows
from out_holders__history
order by from_block, to_block, kind

-- name: window_transfers
-- The transfers in ($after, $upto] in the order of the chain: times in seconds since 1970, values as 64-bit limbs, m0
-- the lowest.
select
    block_number,
    log_index,
    epoch(block_time)::bigint as time_s,
    tx_hash,
    from_address,
    to_address,
    value_raw.limb0 as m0,
    value_raw.limb1 as m1,
    value_raw.limb2 as m2,
    value_raw.limb3 as m3
from raw_chain__transfers
where block_number > $after and block_number <= $upto
order by block_number, log_index

-- name: last_concentration
-- At most one row: the concentration at the end of the newest day.
select top10_share, gini, hhi
from out_holders__daily
order by start desc
limit 1

-- name: last_of_series
-- At most one row: the newest row of a series.
select start, last_block, holders, new_holders, returned, left_holders, transfers, volume_raw
from $table
order by start desc
limit 1

-- name: record_bucket_prices
-- Sets the observed prices of a series' rows: since the newest row with an observed price, and of the first such row.
-- They are the token's prices in USD that are not suspicious, one per minute, from the source first in order of trust.
-- The first row is set again because the pool's prices are merged into it afterwards.
update $table as series
set price_open = seen.price_open, price_high = seen.price_high, price_low = seen.price_low,
    price_close = seen.price_close, price_source = 'observed', price_quality = seen.quality, price_reason = null,
    price_block = seen.price_block
from (
    select
        time_bucket($width::interval, minute) as start,
        arg_min(price_usd, minute)::double as price_open,
        max(price_usd)::double as price_high,
        min(price_usd)::double as price_low,
        arg_max(price_usd, minute)::double as price_close,
        arg_max_null(block, minute) as price_block,
        ['exact', 'derived', 'estimated'][max(list_position(['exact', 'derived', 'estimated'], quality))] as quality
    from (
        select minute, believed.price_usd, believed.quality, believed.block
        from (
            select
                date_trunc('minute', fetched_at) as minute,
                arg_min(
                    {price_usd: price_usd, quality: quality, block: block},
                    coalesce(
                        list_position((select sources->>'$[*].source' from out_market__token_price), source), 1000
                    )
                ) as believed
            from raw_market__token_prices
            where
                token_address = $token_address
                and price_usd is not null
                and not suspicious
                and (
                    fetched_at >= coalesce(
                        (select max(start) from $table where price_source <> 'pool'), timestamp '1970-01-01'
                    )
                    or fetched_at < time_bucket($width::interval, $first_observed::timestamp) + $width::interval
                )
            group by minute
        )
    )
    group by start
) as seen
where series.start = seen.start

-- name: edges_among
-- One row per sender and recipient among the $among largest holders of a list: transfers since $since (UTC) up to
-- $block, and their sum as 64-bit limbs, lowest first. Only the $most pairs with the most transfers.
with largest as materialized (
    select address, unhex(substr(address, 3)) as raw_address, rank from $rows where rank <= $among
)
select
    sender.address, recipient.address, sender.rank, recipient.rank, count(*), min(block_time), max(block_time),
    sum(value_raw.limb0::hugeint), sum(value_raw.limb1::hugeint), sum(value_raw.limb2::hugeint),
    sum(value_raw.limb3::hugeint)
from raw_chain__transfers as moved
join largest as sender on moved.from_address = sender.raw_address
join largest as recipient on moved.to_address = recipient.raw_address
where block_time > $since and block_number <= $block and moved.from_address <> moved.to_address
group by all
order by count(*) desc, sender.rank, recipient.rank
limit $most

-- name: holder_edges
-- One row per edge among the largest holders.
select from_address, to_address, from_rank, to_rank, transfers, amount_raw, first_at, last_at
from out_holders__edges
order by transfers desc, from_rank, to_rank

-- name: series_points
-- One row: the points of a series as a JSON array, oldest first. A point's list is the newest one taken in it; if that
-- list is proven, and no transfer follows it within the point, the point is exact.
with points as (
    select
        series.*,
        taken.block as proven_block,
        taken.proof->>'verdict' as verdict
    from (select *, $measures from $table) as series
    left join (
        select
            time_bucket($width::interval, block_time) as taken_in,
            max(block) as block,
            arg_max(proof, block) as proof,
            arg_max(quality, block) as quality
        from out_holders__lists
        group by taken_in
    ) as taken on series.start = taken.taken_in
)
select to_json(coalesce(list({
    start: strftime(start, '%Y-%m-%dT%H:%M:%SZ'),
    lastBlock: last_block,
    holders: holders,
    'new': new_holders,
    returned: returned,
    'left': left_holders,
    transfers: transfers,
    volumeRaw: volume_raw,
    top10Share: top10_share,
    gini: gini,
    hhi: hhi,
    priceUsd: if(price_close is null, null, {
        open: price_open, high: price_high, low: price_low, 'close': price_close, source: price_source,
        quality: price_quality, block: price_block
    }),
    priceReason: if(price_close is null, coalesce(price_reason, 'not_observed'), null),
    quality: if(proven_block >= last_block and verdict = 'proven', 'exact', 'derived'),
    provenBlock: proven_block,
    verdict: verdict
} order by start), []))::varchar
from points

-- name: recorded_pool
-- At most one row: the recorded pool, its token, and its kind if it gives a price.
select pool_address, token_address, kind
from raw_chain__pool

-- name: first_observed
-- One row: the time of the token's first price that is not suspicious; null without any.
select min(fetched_at)
from raw_market__token_prices
where token_address = $token_address and price_usd is not null and not suspicious

-- name: needs_pool_events
-- One row: true while the pool's events have not been read up to $first_observed, the token's first price. Without that
-- price they are always needed.
select coalesce(max(to_block_time) < coalesce($first_observed::timestamp, timestamp '9999-01-01'), true)
from raw_chain__pool_ranges

-- name: drop_pool_prices
-- Drops the prices of a series that come wholly or partly from the pool.
update $table
set price_open = null, price_high = null, price_low = null, price_close = null, price_source = null,
    price_quality = null, price_block = null
where price_source <> 'observed'

-- name: record_pool_prices
-- Sets the pool's prices in a series' rows, from the newest row with a pool price up to the first observed price. They
-- follow from the pool's reserves at the start of the row and after each of its events within it; the reserves of a
-- concentrated pool are virtual. The row of the first observed price contains pool prices before it, then observed ones.
-- The pool's other token is worth a dollar, or the price of ether that was observed within the hour before. $thin:
-- liquidity in USD below which a price is estimated.
update $table as series
set price_open = candle.price_open,
    price_high = if(is_first, greatest(series.price_high, candle.price_high), candle.price_high),
    price_low = if(is_first, least(series.price_low, candle.price_low), candle.price_low),
    price_close = if(is_first, series.price_close, candle.price_close),
    price_source = if(is_first, 'pool_then_observed', 'pool'),
    price_quality = if(
        candle.is_thin or (is_first and series.price_quality = 'estimated'), 'estimated', 'derived'
    ),
    price_reason = null,
    price_block = if(is_first, series.price_block, candle.price_block)
from (
    with span as (
        select
            coalesce(
                (select max(start) from $table where price_source = 'pool'),
                (select min(start) from $table),
                timestamp '1970-01-01'
            ) as since,
            least(
                coalesce($first_observed::timestamp, timestamp '9999-01-01'),
                (select max(to_block_time) from raw_chain__pool_ranges)
            ) as upto
    ),
    pool as (
        select token_place, currency, pow(10.0, decimals - other_decimals) as scale, other_decimals
        from raw_chain__pool
        where reason is null
    ),
    states as (
        select
            block_time, block_number, log_index,
            reserve0_raw.limb1::double * pow(2.0, 64) + reserve0_raw.limb0::double as reserve0,
            reserve1_raw.limb1::double * pow(2.0, 64) + reserve1_raw.limb0::double as reserve1,
            sqrt_price_x96.limb2::double * pow(2.0, 32) + sqrt_price_x96.limb1::double / pow(2.0, 32)
                + sqrt_price_x96.limb0::double / pow(2.0, 96) as root,
            liquidity_raw.limb1::double * pow(2.0, 64) + liquidity_raw.limb0::double as liquidity
        from raw_chain__pool_reserves
        where
            block_time < (select upto from span)
            and block_time >= coalesce(
                (select max(block_time) from raw_chain__pool_reserves where block_time < (select since from span)),
                timestamp '1970-01-01'
            )
    ),
    syncs as (
        select
            block_time, block_number, log_index,
            coalesce(reserve0, liquidity / nullif(root, 0)) as reserve0,
            coalesce(reserve1, liquidity * root) as reserve1
        from states
    ),
    held as (
        select
            block_time,
            max(block_number) as block,
            last(reserve0 order by block_number, log_index) as reserve0,
            last(reserve1 order by block_number, log_index) as reserve1
        from syncs
        group by block_time
    ),
    moments as (
        select series.start, series.start as moment, -1 as block_number, -1 as log_index, block, reserve0, reserve1
        from $table as series
        asof join held on series.start > held.block_time
        where series.start >= (select since from span) and series.start < (select upto from span)
        union all
        select
            time_bucket($width::interval, block_time), block_time, block_number, log_index, block_number,
            reserve0, reserve1
        from syncs
        where block_time >= (select since from span)
    ),
    ether as (
        select fetched_at, max(price_usd)::double as price_usd
        from raw_market__eth_prices
        where price_usd is not null and not suspicious
        group by fetched_at
    ),
    valued as (
        select
            moments.*, scale, other_decimals,
            if(token_place = 0, reserve0, reserve1) as ours,
            if(token_place = 0, reserve1, reserve0) as other,
            if(
                currency = 'usd', 1.0, if(moment - fetched_at <= interval 1 hour, ether.price_usd, null)
            ) as usd
        from moments
        cross join pool
        asof left join ether on moments.moment >= ether.fetched_at
    ),
    priced as (
        select
            start, moment, block_number, log_index, block,
            other / ours * scale * usd as price,
            2 * other / pow(10.0, other_decimals) * usd < $thin as is_thin
        from valued
        where ours > 0 and other > 0
    )
    select
        start,
        coalesce($first_observed::timestamp < start + $width::interval, false) as is_first,
        first(price order by moment, block_number, log_index) as price_open,
        max(price) as price_high,
        min(price) as price_low,
        last(price order by moment, block_number, log_index) as price_close,
        last(block order by moment, block_number, log_index) as price_block,
        bool_or(is_thin) as is_thin
    from priced
    where price between $lowest and $highest
    group by start
) as candle
where series.start = candle.start

-- name: record_missing_prices
-- Sets the reason of rows without a price: before the first observed price, or between two.
update $table as series
set price_reason = missing.reason
from (
    select
        start,
        case
            when start > $first_observed::timestamp then 'not_observed'
            when pool.reason is not null then pool.reason
            when pool.pool_address is null and $first_observed::timestamp is null then 'not_observed'
            when pool.pool_address is null then 'before_first_observation'
            when coalesce(start >= known.read_to, true) then 'pool_not_read_yet'
            when coalesce(start + $width::interval <= known.first_sync, true) then 'before_pool'
            when pool.currency = 'eth' then 'no_eth_price'
            else 'empty_pool'
        end as reason
    from $table
    cross join (
        select
            (select max(to_block_time) from raw_chain__pool_ranges) as read_to,
            (select min(block_time) from raw_chain__pool_reserves) as first_sync
    ) as known
    left join raw_chain__pool as pool on pool.token_address = $token_address
    where price_close is null
) as missing
where series.start = missing.start and series.price_reason is distinct from missing.reason
