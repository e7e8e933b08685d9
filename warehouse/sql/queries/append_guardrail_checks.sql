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
