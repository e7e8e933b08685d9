-- Every key of a claim, revoked ones too, is :owner's.
update api_keys set owner = :owner where claim_id = :claim_id
