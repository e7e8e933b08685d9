-- At most one row: the token's price as served, and every source's answer. None where no source is configured.
create table if not exists out_market__token_price (
    token_address varchar not null,  -- The token, lower-case hex
    source varchar,  -- Source of the price that is served; null where there never was one
    quality varchar not null,  -- Quality of the price
    reason varchar,  -- Reason why it is missing, degraded or stale, as a stable code
    stale boolean not null,  -- True if no source gives a sound price now, and an old one is served
    observed_at timestamp,  -- The source's own time of the price, UTC
    fetched_at timestamp,  -- Time at which the price was read, UTC
    age_s bigint,  -- Seconds from then to the tick that chose it
    price varchar,  -- USD for one whole unit, decimal text
    mcap_usd double,  -- Market capitalisation in USD, else fully diluted value
    volume_24h_usd double,  -- USD traded in 24 hours over all sound pools; of the source pool an estimate from transfers
    change_24h_percent double,  -- Change over 24 hours in percent
    change_1h_percent double,  -- Change over one hour in percent
    buys_24h bigint,  -- Buys in 24 hours over all sound pools, likewise
    sells_24h bigint,  -- Sells in 24 hours over all sound pools, likewise
    trades_block bigint,  -- Block up to which an estimate from transfers counts them; null without one
    liquidity_usd double,  -- USD in the pool that the price is from
    pool varchar,  -- The pool that the price is from
    pools bigint,  -- Sound pools that volume and trades are summed over
    block bigint,  -- Block of a price that was read on the chain
    change_check json not null,  -- Changes according to our own observations, as published
    sources json not null  -- Every configured source's latest answer, as published
);

-- checks (blocking) served_price_is_sound: The served price is at most one row, above zero and no jump; it has a
-- lower quality where it is stale and a reason where it is missing; no source is queried more than once a minute.
with served as (
    select *, price::decimal(38, 24) as price_usd from out_market__token_price
),
answers as (
    select * from raw_market__token_prices
)
select
    (select greatest(count(*) - 1, 0) from served) as rows_beyond_the_first,
    (select count(*) from served where price_usd not between 1e-18 and 1e9)
    + (select count(*) from answers where price_usd not between 1e-18 and 1e9) as absurd_prices,
    (select count(*) from served semi join answers on (
        served.source = answers.source and served.fetched_at = answers.fetched_at and answers.suspicious
    )) as suspicious_served,
    (select count(*) from served where stale and quality <> 'estimated') as stale_but_trusted,
    (select count(*) from served where price is null and reason is null)
    + (select count(*) from answers where price_usd is null and reason is null) as missing_without_reason,
    (select count(*) from (
        select 1 from answers group by source, date_trunc('minute', fetched_at) having count(*) > 1
    )) as asked_too_often
