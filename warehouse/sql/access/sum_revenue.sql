-- One row per UTC day of issue and plan; amounts in the coin's smallest unit.
insert into out_access__revenue_daily
select
    issued_at::date as day,
    plan_id,
    count(*) filter (state = 'issued'),
    coalesce(sum(amount_units) filter (state = 'issued'), 0),
    count(*) filter (state = 'reversed'),
    coalesce(sum(amount_units) filter (state = 'reversed'), 0)
from raw_ledger__claims
group by day, plan_id
