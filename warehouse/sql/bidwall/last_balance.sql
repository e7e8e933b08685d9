-- At most one row: the newest balance of $contract that was read. Wei as decimal text, times UTC.
select block, block_hash, block_time, is_final, balance_wei::varchar, fetched_at
from raw_bidwall__balances
where contract_address = $contract and balance_wei is not null
order by fetched_at desc
limit 1
