-- One row per event whose decision is not in the audit or did not approve.
select world_events.seq
from world_events
left join world_decisions on world_decisions.seq = world_events.decision_seq
where world_decisions.verdict is null or world_decisions.verdict <> 'approved'
order by world_events.seq
