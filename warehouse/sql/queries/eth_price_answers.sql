-- The newest answers of all sources about ETH, newest first: one row per answer.
select fetched_at, source, price_usd::varchar as price_usd, quality, suspicious, reason, latency_ms
from raw_market__eth_prices
order by fetched_at desc
limit 10
