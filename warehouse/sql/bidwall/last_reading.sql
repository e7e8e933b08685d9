-- At most one row: why the newest reading of the balance of $contract failed; null where it did not.
select reason
from raw_bidwall__balances
where contract_address = $contract
order by fetched_at desc
limit 1
