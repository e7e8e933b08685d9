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
