-- At most one row: the last block up to which attestations are held, its hash and its time (UTC).
select to_block, to_block_hash, to_block_time
from raw_chain__attestation_ranges
order by to_block desc
limit 1
