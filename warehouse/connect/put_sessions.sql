-- Replaces sessions by their current state; $rows is a JSON array of them. A forgotten session keeps its stored counts.
insert into raw_ledger__connect_sessions
select
    r.session_key, r.day, r.assistant, r.os, r.runtime_profile, r.steps, r.done, r.skipped, r.failed, r.finished,
    r.registered, r.closed, r.forgotten
from (
    select unnest(from_json($rows::json, '[{
        "session_key": "varchar", "day": "date", "assistant": "varchar", "os": "varchar", "runtime_profile": "varchar",
        "steps": "integer", "done": "integer", "skipped": "integer", "failed": "integer", "finished": "boolean",
        "registered": "boolean", "closed": "boolean", "forgotten": "boolean"
    }]')) as r
)
on conflict (session_key) do update set
    assistant = excluded.assistant,
    os = excluded.os,
    runtime_profile = excluded.runtime_profile,
    steps = if(excluded.forgotten, steps, excluded.steps),
    done = if(excluded.forgotten, done, excluded.done),
    skipped = if(excluded.forgotten, skipped, excluded.skipped),
    failed = if(excluded.forgotten, failed, excluded.failed),
    finished = if(excluded.forgotten, finished, excluded.finished),
    registered = registered or excluded.registered,
    closed = excluded.closed,
    forgotten = excluded.forgotten
