-- name: after
-- One row per check above :seq, oldest first, at most :limit, without the text that was judged and who asked.
select
    seq, checked_at, check_id, source, asked_severity, severity, passed, matched, warned_stages, failed_stages,
    rules_checked, ruleset_version, latency_us
from guardrail_checks where seq > :seq order by seq limit :limit

-- name: append
-- One row: a check that was answered.
insert into guardrail_checks (
    checked_at, check_id, source, caller, action, asked_severity, severity, passed, matched, drafts, warned_stages,
    failed_stages, rules_checked, ruleset_version, problem, latency_us
) values (
    :checked_at, :check_id, :source, :caller, :action, :asked_severity, :severity, :passed, :matched, '[]',
    :warned_stages, :failed_stages, :rules_checked, :ruleset_version, null, :latency_us
)

-- name: delete_old
-- Forgets checks before :before (UTC).
delete from guardrail_checks where checked_at < :before

-- name: forget_caller
-- The texts that :caller had judged are forgotten; that they were judged, and how, stays.
update guardrail_checks set action = '' where caller = :caller and action <> ''

-- name: rewrite (postgresql)
-- Writes the table again without what was deleted, under an exclusive lock.
vacuum (full, analyze) guardrail_checks

-- name: schema
-- One row per guardrail check that was answered; seq in the order of writing, times RFC 3339 text in UTC, latency in
-- microseconds. action is the judged text, shortened, with secrets masked; lists are JSON arrays of text. drafts and
-- problem were filled by earlier versions.
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

-- name: schema (postgresql)
-- One row per guardrail check that was answered; seq in the order of writing, times RFC 3339 text in UTC, latency in
-- microseconds. action is the judged text, shortened, with secrets masked; lists are JSON arrays of text. drafts and
-- problem were filled by earlier versions.
create table if not exists guardrail_checks (
    seq bigint generated always as identity primary key,
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
    latency_us bigint not null
)
