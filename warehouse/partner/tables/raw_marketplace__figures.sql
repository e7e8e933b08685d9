-- One row per usable answer of the marketplace, the last 90 days.
create table if not exists raw_marketplace__figures (
    source varchar not null,  -- Host of the marketplace
    agent_id varchar not null,  -- The requested agent
    fetched_at timestamp not null,  -- Time of the reading, UTC
    revenue_usd decimal(38, 8),  -- Revenue of the agent since it began, USD
    gross_usd decimal(38, 8),  -- Gross value of the agent's jobs, USD
    volume_usd decimal(38, 8),  -- Volume as the marketplace counts it, USD
    successful_jobs bigint,  -- Jobs done
    unique_buyers bigint,  -- Different buyers
    success_rate_percent double,  -- Share of jobs that succeeded, 0..100
    last_active_at timestamp,  -- Time of the agent's last activity, UTC
    reason varchar  -- Oddity of the figures, as a stable code
);
