-- Forgets the sealed form of keys made before :created_before.
update api_keys set sealed = null where sealed is not null and created_at < :created_before
