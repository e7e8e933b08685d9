-- name: block_before
-- At most one row: the number of the newest block with a stored transfer at or before a time (UTC).
select max(block_number) as block
from raw_chain__transfers
where block_time <= $moment
having max(block_number) is not null

-- name: eth_price
-- One row: the served price of ETH in USD; its reason is `not_configured` if no source is configured.
select
    source,
    coalesce(quality, 'unavailable') as quality,
    case when quality is null then 'not_configured' else reason end as reason,
    coalesce(stale, false) as stale,
    observed_at,
    fetched_at,
    price,
    age_s,
    block,
    coalesce(sources, '[]'::json) as sources
from (select 1) left join out_market__eth_price on true

-- name: eth_price_answers
-- The newest answers of all sources about ETH, newest first: one row per answer.
select fetched_at, source, price_usd::varchar as price_usd, quality, suspicious, reason, latency_ms
from raw_market__eth_prices
order by fetched_at desc
limit 10

-- name: eth_price_history
-- Sound prices of ETH (USD) of the last week: one row per source and ten minutes, the last price in them.
select source, max(fetched_at) as fetched, arg_max(price_usd, fetched_at)::double as price_usd
from raw_market__eth_prices
where price_usd is not null and not suspicious
    and fetched_at > (select max(fetched_at) from raw_market__eth_prices) - interval 7 days
group by source, time_bucket(interval 10 minutes, fetched_at)
order by fetched

-- name: last_sound_eth_price
-- At most one row: the newest sound answer about ETH; of several within a minute, that of the first of `$sources`.
select *
from raw_market__eth_prices
where price_usd is not null and not suspicious
order by
    date_trunc('minute', fetched_at) desc,
    list_position($sources::varchar[], source) nulls last,
    fetched_at desc
limit 1

-- name: last_sound_token_price
-- At most one row: the newest sound answer about a token; of several within a minute, that of the first of `$sources`.
select * exclude (token_address)
from raw_market__token_prices
where token_address = $token_address and price_usd is not null and not suspicious
order by
    date_trunc('minute', fetched_at) desc,
    list_position($sources::varchar[], source) nulls last,
    fetched_at desc
limit 1

-- name: latest_eth_prices
-- The newest answer of each source about ETH, including failed ones.
select *
from raw_market__eth_prices
qualify row_number() over (partition by source order by fetched_at desc) = 1

-- name: latest_token_prices
-- The newest answer of each source about a token, including failed ones.
select * exclude (token_address)
from raw_market__token_prices
where token_address = $token_address
qualify row_number() over (partition by source order by fetched_at desc) = 1

-- name: pool_trades
-- One row: the number of transfers of the token out of a pool (buys) and into it (sells) since $since (UTC), final and
-- pending, of amounts above zero, since anybody can emit transfers of zero for free. Also their amounts in the smallest
-- unit, by the pool's prices (USD) that were read around each: `valued` times the geometric mean of both prices, or the
-- later one if it is the only one; `before` times the square root of the earlier one, if none was read since; and
-- `unvalued` without prices. `read_to` is the newest final block time. `block` is the block up to which every transfer
-- counts: pending ones count only if they follow the final ones without a gap.
with final as (
    select max(to_block) as block, max(to_block_time) as read_to from raw_chain__ranges
),
reach as (
    select coalesce(max(number), any_value(final.block)) as block
    from final left join raw_chain__tip_blocks on number > final.block
    having min(number) is null or min(number) = any_value(final.block) + 1
    union all
    select block from final
    order by block desc
    limit 1
),
moves as (
    select block_number, from_address, to_address, value_raw from raw_chain__transfers where block_time > $since
    union all
    select block_number, from_address, to_address, value_raw from raw_chain__tip_transfers
    where block_time > $since
        and block_number > (select block from final) and block_number <= (select block from reach)
),
trades as (
    select
        block_number,
        from_address = $pool as bought,
        value_raw.limb0::double
        + value_raw.limb1 * pow(2.0, 64)
        + value_raw.limb2 * pow(2.0, 128)
        + value_raw.limb3 * pow(2.0, 192) as amount
    from moves
    where (from_address = $pool) <> (to_address = $pool) and from_address <> unhex(repeat('00', 20))
        and greatest(value_raw.limb0, value_raw.limb1, value_raw.limb2, value_raw.limb3) > 0
),
prices as (
    select block, max(price_usd)::double as usd
    from raw_market__token_prices
    where pool = $named and source = 'pool' and block is not null and price_usd is not null and not suspicious
    group by block
),
priced as (
    select trades.bought, trades.amount, earlier.usd as earlier_usd, later.usd as later_usd
    from trades
    asof left join prices as earlier on trades.block_number > earlier.block
    asof left join prices as later on trades.block_number <= later.block
)
select
    count(*) filter (where bought) as buys,
    count(*) filter (where not bought) as sells,
    coalesce(sum(amount * sqrt(coalesce(earlier_usd, later_usd) * later_usd)), 0) as valued,
    coalesce(sum(amount * sqrt(earlier_usd)) filter (where later_usd is null), 0) as before,
    coalesce(sum(amount) filter (where later_usd is null and earlier_usd is null), 0) as unvalued,
    (select read_to from final) as read_to,
    (select block from reach) as block
from priced

-- name: served_prices
-- The chosen prices, USD; no row before the first choice, and if no source is configured.
select price from out_market__token_price
union all
select price from out_market__eth_price

-- name: token_price
-- One row: the served price of the token, USD and percent; its reason is `not_configured` if no source is configured.
-- Volume and trades that the source `pool` has are estimates, unless the whole answer is stale.
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
    case
        when coalesce(volume_24h_usd, buys_24h, sells_24h) is null then 'unavailable'
        when source = 'pool' then 'estimated'
        else quality
    end as trades_quality,
    case
        when quality is null then 'not_configured'
        when coalesce(volume_24h_usd, buys_24h, sells_24h) is null and price is not null then 'not_told'
        when source = 'pool' and not stale then 'estimated_from_transfers'
        else reason
    end as trades_reason,
    trades_block,
    age_s,
    token_address as token,
    pool,
    pools,
    liquidity_usd,
    block,
    coalesce(change_check, '{"change1h": null, "change24h": null, "agrees": null}'::json) as change_check,
    coalesce(sources, '[]'::json) as sources
from (select 1) left join out_market__token_price on true

-- name: token_price_answers
-- The newest answers of all sources about the token, newest first: one row per answer.
select fetched_at, source, price_usd::varchar as price_usd, quality, suspicious, reason, latency_ms
from raw_market__token_prices
order by fetched_at desc
limit 10

-- name: token_price_history
-- The token's sound prices (USD) of the last week: one row per source and ten minutes, the last price in them.
select source, max(fetched_at) as fetched, arg_max(price_usd, fetched_at)::double as price_usd
from raw_market__token_prices
where price_usd is not null and not suspicious
    and fetched_at > (select max(fetched_at) from raw_market__token_prices) - interval 7 days
group by source, time_bucket(interval 10 minutes, fetched_at)
order by fetched

-- name: token_price_near
-- At most one row: a source's sound price (USD) nearest to a time (UTC), within a tolerance.
select price_usd
from raw_market__token_prices
where
    token_address = $token_address
    and source = $source
    and price_usd is not null
    and not suspicious
    and fetched_at between $moment::timestamp - $tolerance::interval and $moment::timestamp + $tolerance::interval
order by abs(epoch(fetched_at) - epoch($moment::timestamp))
limit 1
