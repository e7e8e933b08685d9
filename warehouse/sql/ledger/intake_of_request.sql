-- The intake that a request under an Idempotency-Key made, with the digest of that request.
select intake_id, request_digest from intakes where idempotency_digest = :idempotency_digest
