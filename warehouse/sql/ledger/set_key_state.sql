-- Moves a key that is in :from_state to :state; a revoked key is no longer sealed.
update api_keys set
    state = :state,
    changed_at = :changed_at,
    sealed = case when :state = 'revoked' then null else sealed end
where key_id = :key_id and state = :from_state
