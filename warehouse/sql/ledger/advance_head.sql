-- Takes the next seq; a rollback gives it back.
update ledger_head set seq = seq + 1 where only_row = 1 returning seq
