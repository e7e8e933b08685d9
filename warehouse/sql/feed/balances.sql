-- One row per final reading of the watched contract's balance in wei, as decimal text, the newest thousand.
select block, block_time, balance_wei::varchar as balance_wei
from raw_bidwall__balances
where contract_address = $contract and is_final and balance_wei is not null
order by block desc
limit 1000
