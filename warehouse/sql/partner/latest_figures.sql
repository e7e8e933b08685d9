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
