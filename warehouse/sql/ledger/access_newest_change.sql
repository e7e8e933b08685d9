-- The newest change above a seq of what paid access is about; null where there is none.
select max(seq) as seq from ledger_changes
where seq > :seq and kind in ('quote', 'claim', 'key', 'unmatched_payment')
