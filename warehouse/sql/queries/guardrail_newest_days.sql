-- One row per UTC day and stage of the newest days, for showing; latency in microseconds.
select day::varchar as day, stage, checks, blocked, latency_p50_us, latency_p99_us
from out_guardrail__daily order by day desc, checks desc, stage limit 20
