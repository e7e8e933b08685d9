-- The unmatched transfer at a place of the chain, where there is one.
select payment_id from access_unmatched_payments
where chain_id = :chain_id and transaction_hash = :transaction_hash and log_position = :log_position
