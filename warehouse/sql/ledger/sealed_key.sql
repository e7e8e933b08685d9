-- At most one row: the sealed form of a key that was not used yet.
select sealed from api_keys where key_id = :key_id and sealed is not null
