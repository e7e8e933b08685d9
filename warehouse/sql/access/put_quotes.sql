-- Puts quotes as they are now in place of what was held of them; $rows is a JSON array of them.
insert or replace into raw_ledger__quotes
select
    r.quote_id, r.plan_id, r.amount_units, r.issued_at::timestamptz at time zone 'UTC',
    r.expires_at::timestamptz at time zone 'UTC', r.state
from (
    select unnest(from_json($rows::json, '[{
        "quote_id": "varchar", "plan_id": "varchar", "amount_units": "bigint", "issued_at": "varchar",
        "expires_at": "varchar", "state": "varchar"
    }]')) as r
)
