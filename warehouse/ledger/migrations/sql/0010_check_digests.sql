-- What a person sees who approves an action: the digest of its check, and what it would do. There is no table before the
-- log is first opened, which makes it as it is now.
alter table if exists guardrail_checks
add column if not exists digest text not null default '',
add column if not exists effects text not null default '[]',
drop column if exists drafts,
drop column if exists problem;
