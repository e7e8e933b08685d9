-- One row per quote that changed above a seq, as it is now; without whose it is and what only its payer knows. A quote
-- that brings the rest of another's price is no sale of its own.
select quote_id, plan_id, amount as amount_units, issued_at, expires_at, state
from access_quotes
where
    quote_id in (select entity_id from ledger_changes where seq > :seq and kind = 'quote')
    and quote_id not in (select quote_id from access_supplements)
