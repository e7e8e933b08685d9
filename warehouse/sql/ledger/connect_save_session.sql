-- Keeps the plan that an open session chose, how far it is, and the intake that it registered; no row where somebody
-- else was faster.
update connect_sessions
set
    assistant = :assistant, os = :os, runtime_profile = :runtime_profile, progress_json = :progress_json,
    intake_id = :intake_id, revision = revision + 1
where session_id = :session_id and revision = :revision and closed_at is null and expires_at > :now
