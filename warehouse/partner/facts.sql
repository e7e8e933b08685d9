-- name: facts_out_marketplace__revenue
-- One row of facts about the agent's figures as they are served, USD; 0 is right, or 1 row.
select
    count(*) as rows,
    count(*) filter (quality not in ('estimated', 'unavailable')) as better_than_estimated,
    count(*) filter (quality = 'unavailable' and reason is null) as missing_without_reason,
    count(*) filter (stale and reason is null) as stale_without_reason,
    count(*) filter (least(revenue_usd::decimal(38, 8), gross_usd::decimal(38, 8), volume_usd::decimal(38, 8)) < 0)
        as negative_amounts,
    count(*) filter (revenue_usd::decimal(38, 8) > gross_usd::decimal(38, 8) and reason is null) as unnamed_revenue_above_gross
from out_marketplace__revenue

-- name: facts_out_partner__snapshot
-- One row of facts about the partner's snapshot as it is served; 0 is right, or 1 row.
select
    count(*) as rows,
    count(*) filter (quality not in ('estimated', 'unavailable')) as better_than_estimated,
    count(*) filter (quality = 'estimated' and (snapshot is null or snapshot_sha256 is null or fetched_at is null))
        as estimated_without_snapshot,
    count(*) filter (quality = 'unavailable' and reason is null) as missing_without_reason,
    count(*) filter (stale and reason is null) as stale_without_reason
from out_partner__snapshot
