-- name: append_guardrail_checks
-- Appends the rows of $checks, a JSON array of checks.
insert into raw_guardrail__checks
select
    c.seq, c.checked_at::timestamptz at time zone 'UTC', c.check_id, c.source, c.asked_severity, c.severity, c.passed,
    c.matched, c.warned_stages, c.failed_stages, c.rules_checked, c.ruleset_version, c.latency_us
from (
    select unnest(from_json($checks::json, '[{
        "seq": "bigint", "checked_at": "varchar", "check_id": "varchar", "source": "varchar",
        "asked_severity": "varchar", "severity": "varchar", "passed": "boolean", "matched": ["varchar"],
        "warned_stages": ["varchar"], "failed_stages": ["varchar"], "rules_checked": "integer",
        "ruleset_version": "varchar", "latency_us": "bigint"
    }]')) as c
)

-- name: forget_guardrail_days
-- Deletes the sums of all days from that of the earliest check after $seq on.
delete from out_guardrail__daily
where day >= (select min(checked_at)::date from raw_guardrail__checks where seq > $seq)

-- name: guardrail_newest_check
-- One row: the number of the newest stored check, 0 before the first.
select coalesce(max(seq), 0) from raw_guardrail__checks

-- name: guardrail_newest_days
-- One row per UTC day and stage of the newest days, for display; latency in microseconds.
select day::varchar as day, stage, checks, blocked, latency_p50_us, latency_p99_us
from out_guardrail__daily order by day desc, checks desc, stage limit 20

-- name: sum_guardrail_days
-- One row per UTC day and stage, for all days from that of the earliest check after $seq on; latency in microseconds.
with checks as (
    select * from raw_guardrail__checks
    where checked_at >= (select min(checked_at)::date from raw_guardrail__checks where seq > $seq)
),
staged as (
    select checked_at::date as day, 'all' as stage, not passed as blocked, latency_us from checks
    union all
    select checked_at::date, unnest(failed_stages), true, latency_us from checks
    union all
    select checked_at::date, unnest(warned_stages), false, latency_us from checks
)
insert into out_guardrail__daily
select
    day, stage, count(*), count(*) filter (blocked), quantile_cont(latency_us, 0.5), quantile_cont(latency_us, 0.99)
from staged group by day, stage
