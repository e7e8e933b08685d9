-- Tables of the partner room; each statement is idempotent.
-- Amounts are USD to 8 places; times are UTC.

-- One row per different snapshot of the partner in a row, the last 90 days: first and last time it was read.
create table if not exists raw_partner__snapshots (
    source varchar not null,
    sha256 varchar not null,
    first_fetched_at timestamp not null,
    last_fetched_at timestamp not null,
    observed_at timestamp,
    snapshot json not null
);

-- One row per usable answer of the marketplace, the last 90 days.
create table if not exists raw_marketplace__figures (
    source varchar not null,
    agent_id varchar not null,
    fetched_at timestamp not null,
    revenue_usd decimal(38, 8),
    gross_usd decimal(38, 8),
    volume_usd decimal(38, 8),
    successful_jobs bigint,
    unique_buyers bigint,
    success_rate_percent double,
    last_active_at timestamp,
    reason varchar
);

-- At most one row: the partner's snapshot as it is served. None where no partner is configured.
create table if not exists out_partner__snapshot (
    source varchar not null,
    quality varchar not null,
    reason varchar,
    stale boolean not null,
    observed_at timestamp,
    fetched_at timestamp,
    age_s bigint,
    snapshot json,
    snapshot_sha256 varchar,
    unchanged_since timestamp
);

-- At most one row: the agent's figures as they are served. None where no marketplace is configured.
create table if not exists out_marketplace__revenue (
    source varchar not null,
    quality varchar not null,
    reason varchar,
    stale boolean not null,
    observed_at timestamp,
    fetched_at timestamp,
    age_s bigint,
    agent_id varchar not null,
    revenue_usd varchar,
    gross_usd varchar,
    volume_usd varchar,
    successful_jobs bigint,
    unique_buyers bigint,
    success_rate_percent double,
    last_active_at timestamp,
    history json not null
);
