-- At most one row: ETH in USD as served. Times are UTC.
select price, source, quality, stale, reason, observed_at, fetched_at
from out_market__eth_price
