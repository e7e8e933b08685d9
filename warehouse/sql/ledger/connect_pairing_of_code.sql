-- The pairing that a code opens, or opened.
select pairing_id, profile_id, expires_at, consumed_at from connect_pairings where code_digest = :code_digest
