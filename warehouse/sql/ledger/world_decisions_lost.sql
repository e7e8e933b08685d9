-- One row per decision that the change feed names and the audit does not hold.
select ledger_changes.seq
from ledger_changes
left join world_decisions on world_decisions.seq = ledger_changes.seq
where ledger_changes.kind = 'world_decision' and world_decisions.seq is null
order by ledger_changes.seq
