-- The newest block with a transfer of a claim that nobody looks at again; no row before there is one.
select block_number, block_hash
from access_payments
where chain_id = :chain_id and state = 'issued' and final_at is not null
order by block_number desc
limit 1
