-- One row per decision, newest first, at most :limit; payload is null where it was forgotten.
select
    world_decisions.seq,
    world_decisions.number,
    world_decisions.decided_at,
    world_decisions.verdict,
    world_decisions.link,
    world_decision_payloads.payload
from world_decisions
left join world_decision_payloads on world_decision_payloads.seq = world_decisions.seq
order by world_decisions.seq desc
limit :limit
