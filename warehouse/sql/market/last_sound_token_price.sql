-- The newest sound answer about a token, within a minute that of the first of `$sources`: at most one row.
select * exclude (token_address)
from raw_market__token_prices
where token_address = $token_address and price_usd is not null and not suspicious
order by
    date_trunc('minute', fetched_at) desc,
    list_position($sources::varchar[], source) nulls last,
    fetched_at desc
limit 1
