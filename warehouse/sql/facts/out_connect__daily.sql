-- One row of facts about daily counts against the sessions that they count; 0 is right everywhere.
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
