-- One row per assistant and step.
create table if not exists out_connect__steps (
    assistant varchar not null,  -- codex, claude-code, gemini, grok or custom
    step_id varchar not null,  -- Id of the step in the plan
    position integer not null,  -- Lowest place that it has in a plan, from 1
    sessions bigint not null,  -- Sessions with such a step
    reached bigint not null,  -- Sessions that reached it
    done bigint not null,  -- Sessions that have done it
    skipped bigint not null,  -- Sessions that skipped it
    failed bigint not null,  -- Sessions in which it failed and was not mended
    failures bigint not null  -- Failures that were reported, mended ones too
);

-- rows: Sessions that have the step, those that reached it, and its outcome in them.
select
    s.assistant, t.step_id, min(t.position) as position, count(*) as sessions,
    count(*) filter (t.state <> 'pending') as reached, count(*) filter (t.state = 'done') as done,
    count(*) filter (t.state = 'skipped') as skipped, count(*) filter (t.state = 'failed') as failed,
    sum(t.failures)::bigint as failures
from raw_ledger__connect_steps t
join raw_ledger__connect_sessions s on s.session_key = t.session_key
group by s.assistant, t.step_id

-- checks (warning) steps_are_counted_once: Every step of a session is counted once and has a known state, and at most
-- one step of a session is active.
select
    (select count(*) from raw_ledger__connect_steps)
    - (select coalesce(sum(sessions), 0)::bigint from out_connect__steps) as steps_missing,
    (
        select count(*) from out_connect__steps where reached > sessions or done + skipped + failed > reached
    ) as counts_out_of_order,
    (
        select count(*) from raw_ledger__connect_steps
        where state not in ('pending', 'active', 'done', 'failed', 'skipped', 'rolled_back')
    ) as unknown_states,
    (
        select count(*) from (
            select session_key from raw_ledger__connect_steps where state = 'active' group by session_key
            having count(*) > 1
        )
    ) as sessions_with_two_active_steps,
    (
        select count(*) from raw_ledger__connect_sessions s
        where s.steps <> (select count(*) from raw_ledger__connect_steps t where t.session_key = s.session_key)
    ) as sessions_without_their_steps
