-- Marks one quote as claimed. One that has expired can still be, by its case.
update access_quotes set state = 'claimed' where quote_id = :quote_id and state in ('open', 'expired')
