-- Deletes sessions that expired before :expired_before.
delete from connect_sessions where expires_at < :expired_before
