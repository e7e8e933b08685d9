-- The newest change of a session above a seq; null where there is none.
select max(seq) as seq from ledger_changes where seq > :seq and kind = 'connect'
