-- One row per key that changed above a seq, as it is now; without whose it is and anything of its text.
select key_id, family_id, claim_id, tier, state, paid_until, created_at, changed_at
from api_keys
where key_id in (select entity_id from ledger_changes where seq > :seq and kind = 'key')
