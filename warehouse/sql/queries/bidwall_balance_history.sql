-- One row per reading of the balance, the newest 500 in order: time of the block (UTC) and balance in ETH.
select block_time, balance_wei::double / 1e18 as balance_eth
from (
    select block_time, balance_wei, fetched_at
    from raw_bidwall__balances
    where balance_wei is not null
    order by fetched_at desc
    limit 500
)
order by fetched_at
