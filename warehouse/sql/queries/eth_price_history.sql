-- Sound prices of ETH (USD) of the last week, by source: one row per source and ten minutes, its last one.
select source, max(fetched_at) as fetched, arg_max(price_usd, fetched_at)::double as price_usd
from raw_market__eth_prices
where price_usd is not null and not suspicious
    and fetched_at > (select max(fetched_at) from raw_market__eth_prices) - interval 7 days
group by source, time_bucket(interval 10 minutes, fetched_at)
order by fetched
