-- One row per transfer event, the newest ten first. Times are UTC.
select block, log_index, token, direction, sender, recipient, block_time, finality
from out_bidwall__events
order by block desc, log_index desc
limit 10
