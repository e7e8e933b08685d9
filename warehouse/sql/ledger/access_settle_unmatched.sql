-- Moves one open unmatched transfer on.
update access_unmatched_payments
set state = :state, refund_transaction_hash = :refund_transaction_hash, changed_at = :changed_at
where payment_id = :payment_id and state = 'open'
