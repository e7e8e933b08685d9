-- One row per UTC day and stage, for all days from that of the earliest check after $seq on; latency in microseconds.
with checks as (
    select * from raw_guardrail__checks
    where checked_at >= (select min(checked_at)::date from raw_guardrail__checks where seq > $seq)
),
staged as (
    select checked_at::date as day, 'all' as stage, not passed as blocked, latency_us from checks
    union all
    select checked_at::date, unnest(failed_stages), true, latency_us from checks
    union all
    select checked_at::date, unnest(warned_stages), false, latency_us from checks
)
insert into out_guardrail__daily
select
    day, stage, count(*), count(*) filter (blocked), quantile_cont(latency_us, 0.5), quantile_cont(latency_us, 0.99)
from staged group by day, stage
