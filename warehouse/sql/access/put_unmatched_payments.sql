-- Puts unmatched payments as they are now in place of what was held of them; $rows is a JSON array of them.
insert or replace into raw_ledger__unmatched_payments
select
    r.payment_id, r.quote_id, r.chain_id, r.asset, r.amount_units, r.block_number, make_timestamp(r.block_time_s * 1000000),
    r.code, r.state, r.recorded_at::timestamptz at time zone 'UTC', r.changed_at::timestamptz at time zone 'UTC',
    r.refund_units
from (
    select unnest(from_json($rows::json, '[{
        "payment_id": "varchar", "quote_id": "varchar", "chain_id": "bigint", "asset": "varchar",
        "amount_units": "varchar", "block_number": "bigint", "block_time_s": "bigint", "code": "varchar",
        "state": "varchar", "recorded_at": "varchar", "changed_at": "varchar",
        "refund_units": "varchar"
    }]')) as r
)
