-- One row per snapshot, the newest 500 in the order of their blocks: block time (UTC) and holders.
select block_time, holders
from (select block, block_time, holders from out_holders__lists where snapshot order by block desc limit 500)
order by block
