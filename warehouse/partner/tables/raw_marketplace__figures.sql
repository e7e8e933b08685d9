-- One row per usable answer of the marketplace, the last 90 days.
create table if not exists raw_marketplace__figures (
    source varchar not null,  -- Host of the marketplace
    agent_id varchar not null,  -- The agent asked for
    fetched_at timestamp not null,  -- When it was read, UTC
    revenue_usd decimal(38, 8),  -- What the agent earned since it began, USD
    gross_usd decimal(38, 8),  -- What passed through its jobs, USD
    volume_usd decimal(38, 8),  -- Volume as the marketplace counts it, USD
    successful_jobs bigint,  -- Jobs done
    unique_buyers bigint,  -- Different buyers
    success_rate_percent double,  -- Share of jobs that succeeded, 0..100
    last_active_at timestamp,  -- When the agent was last active, UTC
    reason varchar  -- What is odd about the figures, as a stable code
);
