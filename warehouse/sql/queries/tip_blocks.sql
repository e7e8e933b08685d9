-- One row per block held above finality, lowest first: its number, hash, parent's hash and UTC time.
select number, hash, parent_hash, block_time
from $tip_blocks
order by number
