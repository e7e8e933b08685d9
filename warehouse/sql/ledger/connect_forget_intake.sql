-- Who was behind the sessions of an intake is forgotten, and what they reported; those that go on end.
update connect_sessions
set
    agent = null, progress_json = null, intake_id = null, closed_at = coalesce(closed_at, :closed_at),
    revision = revision + 1
where intake_id = :intake_id
