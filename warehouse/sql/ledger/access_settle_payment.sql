-- Marks one transfer of a claim as final: nobody need look at it again.
update access_payments set final_at = :final_at
where
    claim_id = :claim_id and transaction_hash = :transaction_hash and log_position = :log_position
    and final_at is null
