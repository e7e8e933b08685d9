-- One row per metric that can be read now: its node, a title, its subject, the value as a number or as a text, the
-- source's time in UTC, the table it is from, and the relative change up to which it counts as unchanged.
with newest as (
    -- an unproven list without holders means nothing: there may be no token
    select *
    from (select * from out_holders__lists order by block desc limit 1)
    where holders > 0 or proof ->> '$.verdict' <> 'unproven'
),
token as (
    -- anybody can choose a symbol: a title contains only one that can't be a sentence
    select
        case
            when regexp_full_match(symbol, '[A-Za-z0-9$][A-Za-z0-9$._+-]{0,15}') then symbol
            else coalesce('the token ' || token_address, 'the token')
        end as name,
        token_address, backfill_percent, recorded_at
    from out_holders__status
)
select 'metric:holders' as metric, 'Holders of ' || name as title, token_address as subject,
    holders::double as number, null::varchar as text, block_time as observed_at, 'out_holders__lists' as source,
    0.0::double as least_change
from newest, token
union all
select 'metric:top10-share', 'Share of the ten largest holders of ' || name, token_address,
    round((concentration ->> '$.top10Share')::double, 6), null, block_time, 'out_holders__lists', 0.001
from newest, token
union all
select 'metric:proof', 'Proof of the newest holder list of ' || name, token_address,
    null, proof ->> '$.verdict', block_time, 'out_holders__lists', 0.0
from newest, token
union all
select 'metric:backfill', 'History read of ' || name || ' in percent', token_address,
    floor(backfill_percent), null, recorded_at, 'out_holders__status', 0.0
from token
where backfill_percent is not null
union all
select 'metric:discrepancy', 'Holders of ' || name || ' by ' || sources.source || ' less ours', sources.source,
    (theirs - holders)::double, null, fetched_at, 'out_holders__sources', 0.0
from out_holders__sources as sources, newest, token
where theirs is not null
union all
select 'metric:token-price', 'Price of ' || name || ' in USD', market.token_address,
    price::double, null, coalesce(observed_at, fetched_at), 'out_market__token_price', 0.01
from out_market__token_price as market, token
where price is not null and not stale
union all
select 'metric:contract-balance', 'Balance of the watched contract in ETH', contract_address,
    round(balance_wei::double / 1e18, 6), null, block_time, 'out_bidwall__status', 0.01
from out_bidwall__status
where balance_wei is not null and is_final
union all
select 'metric:eth-price', 'Price of ETH in USD', 'eth', price::double, null,
    coalesce(observed_at, fetched_at), 'out_market__eth_price', 0.01
from out_market__eth_price
where price is not null and not stale
union all
select 'metric:attestations', 'Attestations in the trust registry', registry, attestations::double, null,
    block_time, 'out_trust__status', 0.0
from out_trust__status
where registry is not null and block_time is not null
