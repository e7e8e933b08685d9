-- The newest sound answer about ETH, within a minute that of the first of `$sources`: at most one row.
select *
from raw_market__eth_prices
where price_usd is not null and not suspicious
order by
    date_trunc('minute', fetched_at) desc,
    list_position($sources::varchar[], source) nulls last,
    fetched_at desc
limit 1
