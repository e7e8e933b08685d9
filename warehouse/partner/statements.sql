-- name: figures_by_day
-- One row: the last reading of each of the newest 30 days that have one, newest first, as a JSON list; USD, times UTC.
with days as (
    select
        fetched_at,
        regexp_replace(regexp_replace(revenue_usd::varchar, '(\.[0-9]*?)0+$', '\1'), '\.$', '') as revenue_usd,
        regexp_replace(regexp_replace(gross_usd::varchar, '(\.[0-9]*?)0+$', '\1'), '\.$', '') as gross_usd
    from raw_marketplace__figures
    where source = $source and agent_id = $agent_id
    qualify row_number() over (partition by fetched_at::date order by fetched_at desc) = 1
    order by fetched_at desc
    limit 30
)
select
    coalesce(
        to_json(list({
            fetchedAt: strftime(fetched_at, '%Y-%m-%dT%H:%M:%SZ'), revenueUsd: revenue_usd, grossUsd: gross_usd
        } order by fetched_at desc)),
        '[]'::json
    ) as history
from days

-- name: latest_figures
-- At most one row: the newest figures of an agent from a host, USD as decimal text without trailing zeros; times UTC.
select
    fetched_at,
    regexp_replace(regexp_replace(revenue_usd::varchar, '(\.[0-9]*?)0+$', '\1'), '\.$', '') as revenue_usd,
    regexp_replace(regexp_replace(gross_usd::varchar, '(\.[0-9]*?)0+$', '\1'), '\.$', '') as gross_usd,
    regexp_replace(regexp_replace(volume_usd::varchar, '(\.[0-9]*?)0+$', '\1'), '\.$', '') as volume_usd,
    successful_jobs,
    unique_buyers,
    success_rate_percent,
    last_active_at,
    reason
from raw_marketplace__figures
where source = $source and agent_id = $agent_id
order by fetched_at desc
limit 1

-- name: latest_snapshot
-- At most one row: the newest snapshot read from a host. Times are UTC.
select observed_at, first_fetched_at, last_fetched_at, snapshot, sha256
from raw_partner__snapshots
where source = $source
order by last_fetched_at desc
limit 1

-- name: newest_attempt
-- At most one row: the time (UTC) of the last request to a source, and why its answer was unusable; null if usable.
select asked_at, reason from raw_feeds__attempts where source = $source order by asked_at desc limit 1

-- name: partner_base_snapshot
-- One row: the partner's served snapshot; its reason is `not_configured` if there is no partner. Times are UTC.
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

-- name: revenue_marketplace
-- One row: the agent's served figures, USD; their reason is `not_configured` if there is no marketplace. Times are UTC.
select
    source,
    coalesce(quality, 'unavailable') as quality,
    case when quality is null then 'not_configured' else reason end as reason,
    coalesce(stale, false) as stale,
    observed_at,
    fetched_at,
    age_s,
    agent_id,
    revenue_usd,
    gross_usd,
    volume_usd,
    successful_jobs,
    unique_buyers,
    success_rate_percent,
    last_active_at,
    coalesce(history, '[]'::json) as history
from (select 1) left join out_marketplace__revenue on true
