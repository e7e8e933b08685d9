-- Says where one transfer of a claim is now.
update access_payments
set state = :state, block_number = :block_number, block_hash = :block_hash, changed_at = :changed_at
where
    claim_id = :claim_id and transaction_hash = :transaction_hash and log_position = :log_position
    and final_at is null
