-- What is kept of the sessions that registered an intake, oldest first.
select
    session_id, profile_id, agent, created_at, expires_at, closed_at, assistant, os, runtime_profile, progress_json
from connect_sessions where intake_id = :intake_id order by created_at
