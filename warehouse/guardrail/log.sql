-- name: add_digest (sqlite)
alter table guardrail_checks add column digest text not null default ''

-- name: add_effects (sqlite)
alter table guardrail_checks add column effects text not null default '[]'

-- name: after
-- One row per check after :seq, oldest first, at most :limit, without the checked text and the caller.
select
    seq, checked_at, check_id, source, asked_severity, severity, passed, matched, warned_stages, failed_stages,
    rules_checked, ruleset_version, latency_us
from guardrail_checks where seq > :seq order by seq limit :limit

-- name: append
-- Inserts a check that was answered.
insert into guardrail_checks (
    checked_at, check_id, source, caller, action, digest, effects, asked_severity, severity, passed, matched,
    warned_stages, failed_stages, rules_checked, ruleset_version, latency_us
) values (
    :checked_at, :check_id, :source, :caller, :action, :digest, :effects, :asked_severity, :severity, :passed,
    :matched, :warned_stages, :failed_stages, :rules_checked, :ruleset_version, :latency_us
)

-- name: columns (sqlite)
-- One row per column of the existing table.
select name from pragma_table_info('guardrail_checks')

-- name: delete_old
-- Deletes checks before :before (UTC).
delete from guardrail_checks where checked_at < :before

-- name: drop_drafts (sqlite)
alter table guardrail_checks drop column drafts

-- name: drop_problem (sqlite)
alter table guardrail_checks drop column problem

-- name: forget_caller
-- Deletes the texts that were checked for :caller, and everything that could confirm a guess of them. The checks and
-- their results stay.
update guardrail_checks set action = '', digest = '', effects = '[]' where caller = :caller and (action <> '' or digest <> '')

-- name: of_digest
-- At most one row: the newest check with this digest; none once its text is deleted.
select checked_at, source, caller, action, asked_severity, severity, passed, matched, effects
from guardrail_checks where digest = :digest order by seq desc limit 1

-- name: rewrite (postgresql)
-- Rewrites the table without deleted content, under an exclusive lock.
vacuum (full, analyze) guardrail_checks

-- name: schema
-- One row per guardrail check that was answered; seq in the order of writing, times RFC 3339 text in UTC, latency in
-- microseconds. action is the judged text, shortened, with secrets masked; digest is that of the check, by which a
-- person approves it; effects describes, in words of closed lists, what the action would do; lists are JSON arrays of text.
create table if not exists guardrail_checks (
    seq integer not null primary key autoincrement,
    checked_at text not null,
    check_id text not null,
    source text not null,
    caller text not null,
    action text not null,
    digest text not null default '',
    effects text not null default '[]',
    asked_severity text not null,
    severity text not null,
    passed integer not null,
    matched text not null,
    warned_stages text not null,
    failed_stages text not null,
    rules_checked integer not null,
    ruleset_version text not null,
    latency_us integer not null
)

-- name: schema (postgresql)
-- One row per guardrail check that was answered; seq in the order of writing, times RFC 3339 text in UTC, latency in
-- microseconds. action is the judged text, shortened, with secrets masked; digest is that of the check, by which a
-- person approves it; effects describes, in words of closed lists, what the action would do; lists are JSON arrays of text.
create table if not exists guardrail_checks (
    seq bigint generated always as identity primary key,
    checked_at text not null,
    check_id text not null,
    source text not null,
    caller text not null,
    action text not null,
    digest text not null default '',
    effects text not null default '[]',
    asked_severity text not null,
    severity text not null,
    passed integer not null,
    matched text not null,
    warned_stages text not null,
    failed_stages text not null,
    rules_checked integer not null,
    ruleset_version text not null,
    latency_us bigint not null
)
