-- One row per UTC day and plan of the newest days, for showing; revenue in whole coins of six decimals.
select
    day::varchar as day,
    plan_id,
    claims,
    (revenue_units // 1000000)::varchar || '.' || lpad((revenue_units % 1000000)::varchar, 6, '0') as revenue_usd,
    reversed_claims
from out_access__revenue_daily order by day desc, plan_id limit 20
