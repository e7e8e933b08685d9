-- Moves one case from a state to another; what is to be sent back, and by what it was, stays once it is there.
update access_cases
set
    state = :state,
    refund_amount = coalesce(:refund_amount, refund_amount),
    refund_transaction_hash = coalesce(:refund_transaction_hash, refund_transaction_hash),
    changed_at = :changed_at
where case_id = :case_id and state = :from_state
