-- Marks one claim as final: nobody need look at its payment again.
update access_claims set final_at = :final_at where claim_id = :claim_id and final_at is null
