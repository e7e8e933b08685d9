-- Places of the transfers of a transaction that claims use.
select log_position from access_payments where chain_id = :chain_id and transaction_hash = :transaction_hash
