-- One row per assistant and step: sessions that have it, came to it, and what became of it.
insert into out_connect__steps
select
    s.assistant, t.step_id, min(t.position), count(*), count(*) filter (t.state <> 'pending'),
    count(*) filter (t.state = 'done'), count(*) filter (t.state = 'skipped'), count(*) filter (t.state = 'failed'),
    sum(t.failures)::bigint
from raw_ledger__connect_steps t
join raw_ledger__connect_sessions s using (session_key)
group by s.assistant, t.step_id
