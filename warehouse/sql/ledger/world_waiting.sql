-- One row per proposal that waits for an operator, oldest first, at most :limit.
select world_pending.seq, world_pending.proposal, world_decisions.decided_at
from world_pending
join world_decisions on world_decisions.seq = world_pending.seq
where world_pending.decided_seq is null
order by world_pending.seq
limit :limit
