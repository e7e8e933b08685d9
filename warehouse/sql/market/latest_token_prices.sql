-- The newest answer of each source about a token, a failed one included.
select * exclude (token_address)
from raw_market__token_prices
where token_address = $token_address
qualify row_number() over (partition by source order by fetched_at desc) = 1
