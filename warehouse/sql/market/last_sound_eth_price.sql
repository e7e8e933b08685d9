-- The newest sound answer of any source about ETH: at most one row.
select *
from raw_market__eth_prices
where price_usd is not null and not suspicious
order by fetched_at desc
limit 1
