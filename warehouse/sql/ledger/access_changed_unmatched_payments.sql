-- One row per unmatched payment that changed above a seq, as it is now; without who sent it in which transaction.
select
    payment_id, quote_id, chain_id, asset, amount as amount_units, block_number, block_time_s, code, state, recorded_at,
    changed_at
from access_unmatched_payments
where payment_id in (select entity_id from ledger_changes where seq > :seq and kind = 'unmatched_payment')
