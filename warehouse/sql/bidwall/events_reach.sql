-- At most one row: the last block up to which the contract's transfers are held, its hash and its time (UTC).
select to_block, to_block_hash, to_block_time
from raw_chain__contract_ranges
order by to_block desc
limit 1
