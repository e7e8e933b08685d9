-- One row per checkpoint, the ten newest first. Times are UTC.
select from_block, to_block, log_count, rpc_host, reasked, recorded_at
from raw_chain__ranges
order by from_block desc
limit 10
