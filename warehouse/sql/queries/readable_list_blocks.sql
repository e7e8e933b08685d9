-- One row per readable holder list: its block.
select block
from out_holders__lists
order by block
