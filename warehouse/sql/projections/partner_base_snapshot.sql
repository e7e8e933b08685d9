-- One row: the partner's snapshot as served; `not_configured` where there is no partner. Times are UTC.
select
    source,
    coalesce(quality, 'unavailable') as quality,
    case when quality is null then 'not_configured' else reason end as reason,
    coalesce(stale, false) as stale,
    observed_at,
    fetched_at,
    age_s,
    snapshot,
    snapshot_sha256,
    unchanged_since
from (select 1) left join out_partner__snapshot on true
