-- One row per check above :seq, oldest first, at most :limit, without the text that was judged and who asked.
select
    seq, checked_at, check_id, source, asked_severity, severity, passed, matched, warned_stages, failed_stages,
    rules_checked, ruleset_version, latency_us
from guardrail_checks where seq > :seq order by seq limit :limit
