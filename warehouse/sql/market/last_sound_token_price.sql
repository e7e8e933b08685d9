-- The newest sound answer of any source about a token: at most one row.
select * exclude (token_address)
from raw_market__token_prices
where token_address = $token_address and price_usd is not null and not suspicious
order by fetched_at desc
limit 1
