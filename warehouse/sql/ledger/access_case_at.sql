-- The case of the transfer at a place of the chain, where there is one.
select * from access_cases
where chain_id = :chain_id and transaction_hash = :transaction_hash and log_position = :log_position
