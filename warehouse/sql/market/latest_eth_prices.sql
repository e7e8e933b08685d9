-- The newest answer of each source about ETH, a failed one included.
select *
from raw_market__eth_prices
qualify row_number() over (partition by source order by fetched_at desc) = 1
