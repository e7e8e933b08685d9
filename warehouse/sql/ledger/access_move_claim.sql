-- Moves one claim from a state to another; where its payment lies now comes with it.
update access_claims
set state = :state, block_number = :block_number, block_hash = :block_hash, changed_at = :changed_at
where claim_id = :claim_id and state = :from_state
