-- One row per case of a transaction, in the order of its logs.
select * from access_cases
where chain_id = :chain_id and transaction_hash = :transaction_hash
order by log_position
