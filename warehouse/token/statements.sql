-- name: append_rows
-- Appends the registered rows `incoming` to $table, by the names of its columns: one per event, times UTC.
insert into $table by name
select * from incoming

-- name: balances_of
-- One row per asked address that was ever seen: 0x text, balance as decimal text in smallest units.
select '0x' || lower(hex(address)), balance_raw::varchar
from core_holders__balances
where address in (select unnest($addresses::blob[]))

-- name: chain_identity
-- At most one row: chain id, genesis hash, token, first block that this warehouse is of.
select chain_id, genesis_hash, token_address, start_block
from raw_chain__identity

-- name: csv_lines
-- The lines `address,balance_raw` of the ranked list, largest first, joined into texts of 20,000 lines.
select string_agg(address || ',' || balance_raw, chr(10) order by rank) || chr(10)
from holder_list
group by rank // 20000
order by rank // 20000

-- name: delete_tip_blocks
-- Drops the held blocks above finality that lie outside of [first, last].
delete from $tip_blocks
where number not between ? and ?

-- name: delete_tip_rows
-- Drops the pending rows of $tip_rows whose block lies outside of [first, last].
delete from $tip_rows
where block_number not between ? and ?

-- name: fold_checkpoint
-- At most one row: the last block read, its hash and time.
select to_block, to_block_hash, to_block_time
from raw_chain__ranges
order by to_block desc
limit 1

-- name: fold_state
-- At most one row: up to where transfers are folded; amounts as decimal text in smallest units.
select
    block, block_hash, block_time, minted_raw::varchar, sent_to_zero_raw::varchar, zero_to_zero_raw::varchar, transfers
from core_holders__state

-- name: held_above_zero
-- One row: sum of the balances above zero as decimal text in smallest units.
select coalesce(sum(balance_raw), 0::bignum)::varchar
from core_holders__balances
where balance_raw > 0::bignum

-- name: holder_concentration
-- One row about the list file $path: share of the ten largest, Gini, Herfindahl-Hirschman index (all fractions 0..1).
-- Ranks run from the largest, so the ascending position of the Gini formula is n + 1 - rank.
select
    least(coalesce(sum(share) filter (rank <= 10), 0), 1)::double as top10_share,
    greatest(least(coalesce(sum((count_all + 1 - 2 * rank) * share) / any_value(count_all), 0), 1), 0)::double as gini,
    least(coalesce(sum(share * share), 0), 1)::double as hhi
from (
    select rank, share, count(*) over () as count_all
    from read_parquet($path)
)

-- name: holder_list_rows
-- One row per recorded list, newest first: block, when taken (UTC), whether it is a persisted snapshot.
select block, taken_at, snapshot
from out_holders__lists
order by block desc

-- name: holder_lists
-- One row per readable holder list, newest first. Times are UTC, sum_raw is decimal text in smallest units.
select
    block, block_hash, block_time, level, taken_at, snapshot, holders, sum_raw, quality, proof::varchar,
    concentration::varchar
from out_holders__lists
order by block desc

-- name: holder_page
-- One row: holders with rank in ($after, $after + $limit] of the list file $path as a JSON array, by rank.
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
                lastActiveAt: strftime(last_active_at, '%Y-%m-%dT%H:%M:%SZ'),
                kind: kind,
                cohort: cohort
            }
            order by rank
        ),
        []
    )
)::varchar
from read_parquet($path)
where rank > $after and rank <= $after + $limit

-- name: holder_sources
-- One row per other source: its latest holder count, or why it has none.
select source, theirs, reason, fetched_at
from out_holders__sources
order by source

-- name: holder_status
-- At most one row: chain, token as its contract names itself, and how far the chain is read.
select chain_id, token_address, name, symbol, decimals, block, finalized_block, backfill_percent
from out_holders__status

-- name: holders_held
-- One row: sum of all balances as decimal text in smallest units, how many are negative, how many are positive.
select
    coalesce(sum(balance_raw), 0::bignum)::varchar,
    count(*) filter (balance_raw < 0::bignum),
    count(*) filter (balance_raw > 0::bignum)
from core_holders__balances

-- name: last_checkpoint
-- At most one row: the newest contiguous range read, its last block (number, hash) and its rows.
select from_block, to_block, to_block_hash, log_count
from $ranges
order by to_block desc
limit 1

-- name: merge_deltas
-- Adds the changes of the touched addresses to their balances; new addresses start with theirs.
merge into core_holders__balances as held
using (select * exclude (delta), delta::bignum as delta_raw from holder_deltas) as moved
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

-- name: newest_ranges
-- One row per checkpoint, the ten newest first. Times are UTC.
select from_block, to_block, log_count, rpc_host, reasked, recorded_at
from raw_chain__ranges
order by from_block desc
limit 10

-- name: ranges_reasked
-- One row: how many block ranges were read a second time.
select count(*) filter (reasked)
from raw_chain__ranges

-- name: readable_lists
-- One row per readable holder list: its block, and how many holders it has.
select block, holders
from out_holders__lists
order by block

-- name: snapshot_counts
-- One row per snapshot, the newest 500 in the order of their blocks: block time (UTC) and holders.
select block_time, holders
from (select block, block_time, holders from out_holders__lists where snapshot order by block desc limit 500)
order by block

-- name: through_zero
-- One row: limb sums (most significant first) of transfers in ($after, $upto] from zero, to zero and from zero to zero,
-- and the number of all transfers there.
select
    [sum(value_raw.limb3) filter (minted), sum(value_raw.limb2) filter (minted),
     sum(value_raw.limb1) filter (minted), sum(value_raw.limb0) filter (minted)] as minted,
    [sum(value_raw.limb3) filter (to_zero), sum(value_raw.limb2) filter (to_zero),
     sum(value_raw.limb1) filter (to_zero), sum(value_raw.limb0) filter (to_zero)] as sent_to_zero,
    [sum(value_raw.limb3) filter (minted and to_zero), sum(value_raw.limb2) filter (minted and to_zero),
     sum(value_raw.limb1) filter (minted and to_zero), sum(value_raw.limb0) filter (minted and to_zero)] as zero_to_zero,
    count(*) as transfers
from (
    select value_raw, from_address = $zero as minted, to_address = $zero as to_zero
    from raw_chain__transfers
    where block_number > $after and block_number <= $upto
)

-- name: tip_blocks
-- One row per block held above finality, lowest first: its number, hash, parent's hash and UTC time.
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

-- name: write_fast
-- Row groups of hashes and addresses are written as they are: to try FSST on them takes a tenth of a backfill's time, and
-- would make its table a third smaller.
set disabled_compression_methods = 'fsst,dict_fsst'

-- name: write_small
-- Back to every compression, for all other tables.
reset disabled_compression_methods
