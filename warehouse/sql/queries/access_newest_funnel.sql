-- One row per UTC day and plan of the newest days, for showing.
select day::varchar as day, plan_id, quotes, paid, claimed from out_access__funnel order by day desc, plan_id limit 20
