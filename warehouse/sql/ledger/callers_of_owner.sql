-- One row per caller that has acted for :owner: ids of keys and of sessions.
select key_id as caller from api_keys where owner = :owner
union
select session_id from connect_sessions where 'profile:' || profile_id = :owner
