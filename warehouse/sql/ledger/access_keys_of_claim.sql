-- One row per key of a claim.
select key_id from api_keys where claim_id = :claim_id order by key_id
