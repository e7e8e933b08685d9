-- name: facts_out_market__eth_price
-- One row of facts about ETH/USD as it is served, USD, against all answers that are kept; 0 is right, or 1 row.
with served as (
    select *, price::decimal(38, 24) as price_usd from out_market__eth_price
),
answers as (
    select * from raw_market__eth_prices
)
select
    (select count(*) from served) as rows,
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

-- name: facts_out_market__token_price
-- One row of facts about the token's price as it is served, USD, against all answers that are kept; 0 is right, or 1 row.
with served as (
    select *, price::decimal(38, 24) as price_usd from out_market__token_price
),
answers as (
    select * from raw_market__token_prices
)
select
    (select count(*) from served) as rows,
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
