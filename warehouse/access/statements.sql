-- name: access_open_payments
-- One row per payment that waits for the operator, oldest first, for display; amounts in the token's smallest unit.
select payment_id, code, state, asset, amount_units, paid_at::varchar as paid_at
from raw_ledger__unmatched_payments where state in ('open', 'supplement_offered', 'refund_due') order by recorded_at, payment_id limit 20

-- name: preview_out_access__revenue_daily
-- One row per UTC day and plan of the newest days, for display; revenue in whole coins of six decimals.
select
    day::varchar as day,
    plan_id,
    claims,
    (revenue_units // 1000000)::varchar || '.' || lpad((revenue_units % 1000000)::varchar, 6, '0') as revenue_usd,
    reversed_claims
from out_access__revenue_daily order by day desc, plan_id limit 20

-- name: put_claims
-- Replaces claims by their current state; $rows is a JSON array of them.
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

-- name: put_keys
-- Replaces keys by their current state; $rows is a JSON array of them.
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

-- name: put_quotes
-- Replaces quotes by their current state; $rows is a JSON array of them.
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

-- name: put_unmatched_payments
-- Replaces unmatched payments by their current state; $rows is a JSON array of them.
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
