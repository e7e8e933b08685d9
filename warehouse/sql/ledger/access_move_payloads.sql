-- What was decided of the keys of a claim is :owner's.
update world_decision_payloads
set owner = :owner
where key_id in (select key_id from api_keys where claim_id = :claim_id)
