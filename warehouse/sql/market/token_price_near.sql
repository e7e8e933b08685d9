-- The sound price (USD) that a source gave nearest to a time (UTC), within a tolerance: at most one row.
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
