-- name: guardrail_delete_approvals
-- Deletes approvals that expired before :expired_before.
delete from guardrail_approvals where expires_at < :expired_before

-- name: guardrail_take_approval
-- Inserts an approval that a check uses; inserts no row if it was used before.
insert into guardrail_approvals (approval_id, digest, owner, expires_at, taken_at)
values (:approval_id, :digest, :owner, :expires_at, :taken_at)
on conflict (approval_id) do nothing
