-- The keys of a claim are :owner's.
update access_claims set owner = :owner where claim_id = :claim_id
