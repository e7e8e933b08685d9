-- One row per decision above :seq, oldest first, at most :limit; salt and payload are null where it was forgotten.
select
    world_decisions.seq,
    world_decisions.number,
    world_decisions.decided_at,
    world_decisions.verdict,
    world_decisions.commitment,
    world_decisions.link,
    world_decision_payloads.salt,
    world_decision_payloads.payload
from world_decisions
left join world_decision_payloads on world_decision_payloads.seq = world_decisions.seq
where world_decisions.seq > :seq
order by world_decisions.seq
limit :limit
