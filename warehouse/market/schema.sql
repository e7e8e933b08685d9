-- Tables of the market room; each statement is idempotent.
-- Prices are USD to 24 places; changes are percent; times are UTC.

-- One row per answer of a source about the token, also of a failed one: the price is null then, and reason says why.
create table if not exists raw_market__token_prices (
    token_address varchar not null,
    source varchar not null,
    fetched_at timestamp not null,
    observed_at timestamp,
    latency_ms bigint not null,
    quality varchar not null,
    suspicious boolean not null,
    reason varchar,
    price_usd decimal(38, 24),
    mcap_usd double,
    volume_24h_usd double,
    change_24h_percent double,
    change_1h_percent double,
    buys_24h bigint,
    sells_24h bigint,
    liquidity_usd double,
    pool varchar,
    pools bigint,
    block bigint
);

-- One row per answer of a source about ETH, also of a failed one.
create table if not exists raw_market__eth_prices (
    source varchar not null,
    fetched_at timestamp not null,
    observed_at timestamp,
    latency_ms bigint not null,
    quality varchar not null,
    suspicious boolean not null,
    reason varchar,
    price_usd decimal(38, 24),
    block bigint
);

-- At most one row: the token's price as it is served, and what every source said. None where no source is configured.
create table if not exists out_market__token_price (
    token_address varchar not null,
    source varchar,
    quality varchar not null,
    reason varchar,
    stale boolean not null,
    observed_at timestamp,
    fetched_at timestamp,
    age_s bigint,
    price varchar,
    mcap_usd double,
    volume_24h_usd double,
    change_24h_percent double,
    change_1h_percent double,
    buys_24h bigint,
    sells_24h bigint,
    liquidity_usd double,
    pool varchar,
    pools bigint,
    block bigint,
    change_check json not null,
    sources json not null
);

-- At most one row: ETH in USD as it is served, and what every source said. None where no source is configured.
create table if not exists out_market__eth_price (
    source varchar,
    quality varchar not null,
    reason varchar,
    stale boolean not null,
    observed_at timestamp,
    fetched_at timestamp,
    age_s bigint,
    price varchar,
    block bigint,
    sources json not null
);
