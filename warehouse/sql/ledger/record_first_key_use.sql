-- Says when a key was used first; from then on its sealed form is gone.
update api_keys set first_used_at = :first_used_at, sealed = null where key_id = :key_id and first_used_at is null
