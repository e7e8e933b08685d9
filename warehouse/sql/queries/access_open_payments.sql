-- One row per payment that waits for the operator, oldest first, for showing; amounts in the token's smallest unit.
select payment_id, code, state, asset, amount_units, paid_at::varchar as paid_at
from raw_ledger__unmatched_payments where state in ('open', 'supplement_offered', 'refund_due') order by recorded_at, payment_id limit 20
