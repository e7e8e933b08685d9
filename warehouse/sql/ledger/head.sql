-- One row: seq of the newest change, 0 before the first.
select seq from ledger_head where only_row = 1
