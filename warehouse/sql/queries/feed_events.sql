-- One row per event to be shown, newest first; times are UTC, facts is JSON. What names two snapshots leads to the two
-- latest once one of its own is no longer kept.
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
