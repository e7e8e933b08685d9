-- name: feed_attestations
-- One row per attestation, the newest thousand; hashes and addresses as lower-case hex, times UTC.
select
    block_number,
    block_time,
    log_index,
    '0x' || lower(hex(tx_hash)) as tx_hash,
    '0x' || lower(hex(agent)) as agent,
    '0x' || lower(hex(attester)) as attester,
    score
from raw_chain__attestations
order by block_number desc, log_index desc
limit 1000

-- name: feed_balances
-- One row per final reading of the watched contract's balance in wei, as decimal text, the newest thousand.
select block, block_time, balance_wei::varchar as balance_wei
from raw_bidwall__balances
where contract_address = $contract and is_final and balance_wei is not null
order by block desc
limit 1000

-- name: feed_events
-- One row per event to be shown, newest first; times are UTC, facts is JSON. The path of an event that compares two
-- snapshots leads to the two latest ones if one of its own is no longer stored.
select
    id, kind, occurred_at, block, title, text,
    case
        when path like '%?from=%' and 2 > (
            select count(*)
            from out_holders__lists as kept
            where kept.snapshot and kept.block in ((facts ->> 'fromBlock')::bigint, (facts ->> 'toBlock')::bigint)
        )
            then split_part(path, '?', 1)
        else path
    end as path,
    facts::varchar as facts
from core_feed__events
order by occurred_at desc, id desc
limit $shown

-- name: forget_feed_events
-- Deletes all events except the newest $kept.
delete from core_feed__events
where id in (from (from core_feed__events order by occurred_at desc, id desc offset $kept) select id)

-- name: known_feed_events
-- One row per stored event: its time (UTC) and id.
select occurred_at, id from core_feed__events

-- name: listed_holders
-- One row per readable holder list, oldest first, except unproven lists without holders: the token may not exist yet.
-- Times are UTC, sum_raw is decimal text in smallest units.
select block, block_time, snapshot, holders, sum_raw, quality
from out_holders__lists
where holders > 0 or proof ->> 'verdict' <> 'unproven'
order by block
