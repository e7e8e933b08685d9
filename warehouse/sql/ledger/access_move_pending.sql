-- What keys of a claim proposed and waits for an operator is :owner's.
update world_pending
set owner = :owner
where seq in (
    select p.seq
    from world_decision_payloads p
    join api_keys k on k.key_id = p.key_id
    where k.claim_id = :claim_id
)
