-- At most one row: the last block read, its hash and time.
select to_block, to_block_hash, to_block_time
from raw_chain__ranges
order by to_block desc
limit 1
