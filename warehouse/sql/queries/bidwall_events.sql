-- One row per transfer event of $token (null: of any token), the newest $limit first. Values are u256, times UTC.
select
    token, block, log_index, transaction_hash, sender, recipient, direction, value_raw, block_time, time_quality,
    finality
from out_bidwall__events
where $token is null or token = $token
order by block desc, log_index desc
limit $limit
