-- One row: the agent's figures as served, USD; `not_configured` where there is no marketplace. Times are UTC.
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
