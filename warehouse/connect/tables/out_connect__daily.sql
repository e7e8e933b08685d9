-- One row per UTC day on which sessions were opened.
create table if not exists out_connect__daily (
    day date not null,  -- UTC day on which the sessions were opened
    sessions bigint not null,  -- Sessions that were opened
    planned bigint not null,  -- Sessions that requested a plan
    registered bigint not null,  -- Sessions that named an intake
    finished bigint not null,  -- Sessions whose every step is done or skipped
    closed bigint not null  -- Sessions that were closed before their time
);

-- rows: Sessions, and how far they got.
select
    day, count(*) as sessions, count(*) filter (assistant is not null) as planned,
    count(*) filter (registered) as registered, count(*) filter (finished) as finished, count(*) filter (closed) as closed
from raw_ledger__connect_sessions
group by day

-- checks (warning) sessions_are_counted_once: Every session is counted once, and is finished exactly where each of
-- its steps is done or skipped.
select
    (select count(*) from raw_ledger__connect_sessions)
    - (select coalesce(sum(sessions), 0)::bigint from out_connect__daily) as sessions_missing,
    (
        select count(*) from out_connect__daily
        where greatest(planned, registered, closed) > sessions or finished > planned
    ) as counts_out_of_order,
    (
        select count(*) from raw_ledger__connect_sessions
        where done + skipped + failed > steps or finished <> (steps > 0 and done + skipped = steps)
    ) as sessions_unlike_steps
