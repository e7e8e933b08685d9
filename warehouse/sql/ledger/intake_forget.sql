-- What is left of a forgotten intake: lane, profile, day and states.
update intakes
set
    source = 'forgotten', received_at = substr(received_at, 1, 10) || 'T00:00:00.000000Z', consent_at = null,
    consent_version = null, details_json = '{}', agent_id = null, identity_digest = null, linked_to = null,
    idempotency_digest = null, request_digest = null, claim_id = null, payer = null, changed_at = :forgotten_at,
    forgotten_at = :forgotten_at
where intake_id = :intake_id
