-- name: facts_out_guardrail__daily
-- One row of facts about the guardrail's days against the checks that they sum up; 0 is right everywhere.
select
    (select count(*) from out_guardrail__daily) as days_and_stages,
    (select count(*) - count(distinct seq) from raw_guardrail__checks) as doubled_checks,
    (select count(*) from raw_guardrail__checks)
    - (select coalesce(sum(checks), 0)::bigint from out_guardrail__daily where stage = 'all') as checks_missing,
    (select count(*) from out_guardrail__daily where blocked > checks) as more_blocked_than_checked,
    (select count(*) from out_guardrail__daily where latency_p50_us > latency_p99_us or latency_p50_us < 0)
        as latencies_out_of_order
