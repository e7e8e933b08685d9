-- At most one row: the capsule that a request with an idempotency key made.
select id, request_sha256, seq, public_seq, claimed_by, created_at from world_capsules where request_key = :request_key
