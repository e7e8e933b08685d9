-- One row per case that changed above a seq, as it is now; without who sent the money in which transaction.
select
    case_id as payment_id, quote_id, chain_id, asset, amount as amount_units, block_number, block_time_s, code, state,
    recorded_at, changed_at, refund_amount as refund_units
from access_cases
where case_id in (select entity_id from ledger_changes where seq > :seq and kind = 'unmatched_payment')
