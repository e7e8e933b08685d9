-- At most one row: the key with this id; times in UTC.
select key_id, family_id, hint, tier, owner, claim_id, state, paid_until, created_at, changed_at, first_used_at
from api_keys where key_id = :key_id
