-- One row: a check that was answered.
insert into guardrail_checks (
    checked_at, check_id, source, caller, action, asked_severity, severity, passed, matched, drafts, warned_stages,
    failed_stages, rules_checked, ruleset_version, problem, latency_us
) values (
    :checked_at, :check_id, :source, :caller, :action, :asked_severity, :severity, :passed, :matched, :drafts,
    :warned_stages, :failed_stages, :rules_checked, :ruleset_version, :problem, :latency_us
)
