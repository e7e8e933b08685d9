-- One row: a key, active and not used yet; times in UTC.
insert into api_keys (
    key_id, family_id, digest, pepper_version, hint, tier, owner, claim_id, state, paid_until, sealed, created_at,
    changed_at, first_used_at
) values (
    :key_id, :family_id, :digest, :pepper_version, :hint, :tier, :owner, :claim_id, 'active', :paid_until, :sealed,
    :created_at, :created_at, null
)
