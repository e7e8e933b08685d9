-- How far a session is, as it is now, and what names its intake in the graph where that is not forgotten.
select s.progress_json, i.graph_key
from connect_sessions s
left join intakes i on i.intake_id = s.intake_id and i.forgotten_at is null
where s.session_id = :session_id
