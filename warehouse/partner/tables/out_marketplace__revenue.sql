-- At most one row: the agent's figures as served. None where no marketplace is configured.
create table if not exists out_marketplace__revenue (
    source varchar not null,  -- Host of the marketplace
    quality varchar not null,  -- estimated, or unavailable where it never answered
    reason varchar,  -- Oddity of the figures, or reason why the newest request failed, as a stable code
    stale boolean not null,  -- True if the newest request failed, and this is an earlier answer
    observed_at timestamp,  -- Null: the marketplace names no time
    fetched_at timestamp,  -- Time at which the figures were read, UTC
    age_s bigint,  -- Seconds from then to our newest request
    agent_id varchar not null,  -- The requested agent
    revenue_usd varchar,  -- Revenue of the agent since it began, USD, decimal text
    gross_usd varchar,  -- Gross value of the agent's jobs, USD, decimal text
    volume_usd varchar,  -- Volume as the marketplace counts it, USD, decimal text
    successful_jobs bigint,  -- Jobs done
    unique_buyers bigint,  -- Different buyers
    success_rate_percent double,  -- Share of jobs that succeeded, 0..100
    last_active_at timestamp,  -- Time of the agent's last activity, UTC
    history json not null  -- The last reading of each of the last 30 days, newest first, as JSON
);

-- checks (blocking) served_figures_are_sound: The served figures are at most one row, never better than estimated,
-- without negative amounts; revenue above gross has a reason.
select
    greatest(count(*) - 1, 0) as rows_beyond_the_first,
    count(*) filter (quality not in ('estimated', 'unavailable')) as better_than_estimated,
    count(*) filter (quality = 'unavailable' and reason is null) as missing_without_reason,
    count(*) filter (stale and reason is null) as stale_without_reason,
    count(*) filter (least(revenue_usd::decimal(38, 8), gross_usd::decimal(38, 8), volume_usd::decimal(38, 8)) < 0)
        as negative_amounts,
    count(*) filter (revenue_usd::decimal(38, 8) > gross_usd::decimal(38, 8) and reason is null)
        as unnamed_revenue_above_gross
from out_marketplace__revenue
