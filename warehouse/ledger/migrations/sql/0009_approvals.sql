-- Approvals of actions that the guardrail blocks, and the keys that may give them.

-- The rights of a key. A key with the role operator approves actions of others; claims issue no such key.
alter table api_keys add column role text not null default 'caller'
check (role = 'caller' or (role = 'operator' and claim_id is null));

-- One row per approval that a check has used. A second check finds the row and does not pass. digest is that of the
-- check, owner the check's owner. Times are RFC 3339 text in UTC; a row is deleted some time after expires_at.
create table guardrail_approvals (
    approval_id text not null primary key,
    digest text not null,
    owner text not null,
    expires_at text not null,
    taken_at text not null
);

create index guardrail_approvals_by_expiry on guardrail_approvals (expires_at);
