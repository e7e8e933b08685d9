-- At most one row: the key of a claim that is not revoked; times in UTC.
select key_id, family_id, hint, tier, owner, claim_id, state, paid_until, created_at, changed_at, first_used_at
from api_keys where claim_id = :claim_id and state <> 'revoked'
