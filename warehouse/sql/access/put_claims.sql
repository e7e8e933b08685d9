-- Puts claims as they are now in place of what was held of them; $rows is a JSON array of them.
insert or replace into raw_ledger__claims
select
    r.claim_id, r.quote_id, r.plan_id, r.tier, r.chain_id, r.block_number, r.amount_units, r.state,
    r.issued_at::timestamptz at time zone 'UTC', r.changed_at::timestamptz at time zone 'UTC',
    r.access_expires_at::timestamptz at time zone 'UTC', r.final_at::timestamptz at time zone 'UTC'
from (
    select unnest(from_json($rows::json, '[{
        "claim_id": "varchar", "quote_id": "varchar", "plan_id": "varchar", "tier": "varchar", "chain_id": "bigint",
        "block_number": "bigint", "amount_units": "bigint", "state": "varchar", "issued_at": "varchar",
        "changed_at": "varchar", "access_expires_at": "varchar", "final_at": "varchar"
    }]')) as r
)
