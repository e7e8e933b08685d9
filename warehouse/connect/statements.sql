-- name: connect_shown_days
-- One row per UTC day of the newest days with sessions, for showing.
select day::varchar as day, sessions, planned, registered, finished, closed
from out_connect__daily
order by out_connect__daily.day desc
limit 20

-- name: connect_shown_steps
-- One row per assistant and step in the order of the plan, for showing.
select assistant, step_id, sessions, reached, done, skipped, failed, failures
from out_connect__steps
order by assistant, position, step_id

-- name: count_daily
-- One row per UTC day of opening: sessions, and how far they came.
insert into out_connect__daily
select
    day, count(*), count(*) filter (assistant is not null), count(*) filter (registered), count(*) filter (finished),
    count(*) filter (closed)
from raw_ledger__connect_sessions
group by day

-- name: count_steps
-- One row per assistant and step: sessions that have it, came to it, and what became of it.
insert into out_connect__steps
select
    s.assistant, t.step_id, min(t.position), count(*), count(*) filter (t.state <> 'pending'),
    count(*) filter (t.state = 'done'), count(*) filter (t.state = 'skipped'), count(*) filter (t.state = 'failed'),
    sum(t.failures)::bigint
from raw_ledger__connect_steps t
join raw_ledger__connect_sessions s using (session_key)
group by s.assistant, t.step_id

-- name: forget_steps
-- Takes out the steps of sessions of which others come; $rows is a JSON array of the steps that come.
delete from raw_ledger__connect_steps
where session_key in (select unnest(from_json($rows::json, '[{"session_key": "varchar"}]')).session_key)

-- name: put_steps
-- Puts the steps of sessions as they are now; $rows is a JSON array of them.
insert into raw_ledger__connect_steps
select r.session_key, r.position, r.step_id, r.state, r.failures
from (
    select unnest(from_json($rows::json, '[{
        "session_key": "varchar", "position": "integer", "step_id": "varchar", "state": "varchar", "failures": "integer"
    }]')) as r
)
