-- One session that was just opened.
insert into connect_sessions (
    session_id, token_digest, pairing_id, profile_id, agent, created_at, expires_at, revision
)
values (:session_id, :token_digest, :pairing_id, :profile_id, :agent, :created_at, :expires_at, 0)
