-- At most one row: the newest contiguous range read, its last block (number, hash) and its rows.
select from_block, to_block, to_block_hash, log_count
from $ranges
order by to_block desc
limit 1
