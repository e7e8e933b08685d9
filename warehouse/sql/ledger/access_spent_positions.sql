-- Places of the transfers of a transaction that pay nothing any more: claims use them, or they go back to their sender.
select log_position from access_payments where chain_id = :chain_id and transaction_hash = :transaction_hash
union
select log_position from access_cases
where chain_id = :chain_id and transaction_hash = :transaction_hash and state in ('refund_due', 'refunded')
