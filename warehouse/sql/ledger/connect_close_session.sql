-- Ends a session before its time.
update connect_sessions set closed_at = :closed_at, revision = revision + 1
where session_id = :session_id and closed_at is null
