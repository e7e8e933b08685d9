-- At most one row: the newest contiguous range read, its last block (number, hash, UTC time).
select from_block, to_block, to_block_hash, to_block_time
from raw_chain__ranges
order by to_block desc
limit 1
