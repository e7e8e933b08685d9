-- One row per transfer that a claim uses (amounts in smallest units).
select * from access_payments where claim_id = :claim_id order by transaction_hash, log_position
