-- One row per session that changed above a seq, as it is now, without profile, operator and token.
select
    session_id, substr(created_at, 1, 10) as day, assistant, os, runtime_profile, progress_json, intake_id, closed_at
from connect_sessions
where session_id in (select entity_id from ledger_changes where seq > :seq and kind = 'connect')
