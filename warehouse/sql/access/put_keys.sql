-- Puts keys as they are now in place of what was held of them; $rows is a JSON array of them.
insert or replace into raw_ledger__keys
select
    r.key_id, r.family_id, r.claim_id, r.tier, r.state, r.paid_until::timestamptz at time zone 'UTC',
    r.created_at::timestamptz at time zone 'UTC', r.changed_at::timestamptz at time zone 'UTC'
from (
    select unnest(from_json($rows::json, '[{
        "key_id": "varchar", "family_id": "varchar", "claim_id": "varchar", "tier": "varchar", "state": "varchar",
        "paid_until": "varchar", "created_at": "varchar", "changed_at": "varchar"
    }]')) as r
)
