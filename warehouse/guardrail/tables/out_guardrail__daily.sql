-- One row per UTC day and stage, `all` for the checks of a day; latency in microseconds.
create table if not exists out_guardrail__daily (
    day date not null,  -- UTC day
    stage varchar not null,  -- A stage in which a rule matched, or all
    checks bigint not null,  -- Checks of the day in which a rule of that stage matched; all of them under all
    blocked bigint not null,  -- Checks among them that the stage blocked; under all, those that did not pass
    latency_p50_us double not null,  -- Median duration of judging them, microseconds
    latency_p99_us double not null  -- 99th percentile of that duration, microseconds
);

-- checks (warning) days_sum_up_the_checks: The days sum up the checks: each is counted once under all, no more are
-- blocked than checked, and the median latency is at most the 99th percentile.
select
    (select count(*) from out_guardrail__daily) as checked_rows,
    (select count(*) - count(distinct seq) from raw_guardrail__checks) as doubled_checks,
    (select count(*) from raw_guardrail__checks)
    - (select coalesce(sum(checks), 0)::bigint from out_guardrail__daily where stage = 'all') as checks_missing,
    (select count(*) from out_guardrail__daily where blocked > checks) as more_blocked_than_checked,
    (select count(*) from out_guardrail__daily where latency_p50_us > latency_p99_us or latency_p50_us < 0)
        as latencies_out_of_order
