-- What is shown to a person who approves an action: the digest of its check, and its effects. The table may not exist
-- yet: the first opening of the log creates it with these columns.
alter table if exists guardrail_checks
add column if not exists digest text not null default '',
add column if not exists effects text not null default '[]',
drop column if exists drafts,
drop column if exists problem;
