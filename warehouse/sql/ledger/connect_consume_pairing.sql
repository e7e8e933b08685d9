-- Uses a code up; no row where it was used before.
update connect_pairings set consumed_at = :consumed_at where pairing_id = :pairing_id and consumed_at is null
