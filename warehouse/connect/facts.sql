-- name: facts_out_connect__daily
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

-- name: facts_out_connect__steps
-- One row of facts about counts by step against the steps that they count; 0 is right everywhere.
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
