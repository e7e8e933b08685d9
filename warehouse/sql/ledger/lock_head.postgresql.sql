-- One row: the feed's head, locked until the transaction ends. What BEGIN IMMEDIATE does on SQLite.
select seq from ledger_head where only_row = 1 for update
