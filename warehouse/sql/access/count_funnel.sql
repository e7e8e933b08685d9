-- One row per UTC day of the quote and plan: quotes, those that money came for, those that a key was issued for.
insert into out_access__funnel
select
    issued_at::date as day,
    plan_id,
    count(*),
    count(*) filter (
        quote_id in (select quote_id from raw_ledger__claims)
        or quote_id in (select quote_id from raw_ledger__unmatched_payments)
    ),
    count(*) filter (quote_id in (select quote_id from raw_ledger__claims))
from raw_ledger__quotes
group by day, plan_id
