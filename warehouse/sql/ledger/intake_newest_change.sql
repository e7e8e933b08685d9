-- The newest change of an intake above a seq; null where there is none.
select max(seq) as seq from ledger_changes where seq > :seq and kind = 'intake'
