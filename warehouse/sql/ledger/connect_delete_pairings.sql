-- Deletes codes that expired before :expired_before, whose sessions are gone.
delete from connect_pairings
where
    expires_at < :expired_before
    and not exists (select 1 from connect_sessions where connect_sessions.pairing_id = connect_pairings.pairing_id)
