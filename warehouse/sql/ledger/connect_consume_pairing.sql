-- Uses a code up.
update connect_pairings set consumed_at = :consumed_at where pairing_id = :pairing_id
