-- One row per guardrail check that was answered; seq in the order of writing, times RFC 3339 text in UTC, latency in
-- microseconds. action is the judged text, shortened, with secrets masked; lists are JSON arrays of text.
create table if not exists guardrail_checks (
    seq integer not null primary key autoincrement,
    checked_at text not null,
    check_id text not null,
    source text not null,
    caller text not null,
    action text not null,
    asked_severity text not null,
    severity text not null,
    passed integer not null,
    matched text not null,
    drafts text not null,
    warned_stages text not null,
    failed_stages text not null,
    rules_checked integer not null,
    ruleset_version text not null,
    problem text,
    latency_us integer not null
)
