-- One session by its id, ended ones too.
select
    session_id, profile_id, agent, created_at, expires_at, closed_at, assistant, os, runtime_profile, progress_json,
    revision, intake_id
from connect_sessions where session_id = :session_id
