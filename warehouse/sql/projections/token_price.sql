-- One row: the token's price as served, USD and percent; `not_configured` where no source is.
select
    source,
    coalesce(quality, 'unavailable') as quality,
    case when quality is null then 'not_configured' else reason end as reason,
    coalesce(stale, false) as stale,
    observed_at,
    fetched_at,
    price,
    mcap_usd as mcap,
    volume_24h_usd as volume_24h,
    change_24h_percent as change_24h,
    change_1h_percent as change_1h,
    buys_24h,
    sells_24h,
    age_s,
    token_address as token,
    pool,
    pools,
    liquidity_usd,
    block,
    coalesce(change_check, '{"change1h": null, "change24h": null, "agrees": null}'::json) as change_check,
    coalesce(sources, '[]'::json) as sources
from (select 1) left join out_market__token_price on true
