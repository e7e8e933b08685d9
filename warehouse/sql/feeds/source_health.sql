-- One row per source: its newest attempt, when it last was of use, and how many attempts of the last week failed.
select
    source,
    max(asked_at) as last_asked_at,
    arg_max(latency_ms, asked_at) as latency_ms,
    arg_max_null(reason, asked_at) as reason,
    arg_max_null(quality, asked_at) as quality,
    arg_max_null(ask_again_at, asked_at) as ask_again_at,
    max(asked_at) filter (where ok) as succeeded_at,
    count(*) as attempts,
    count(*) filter (where not ok) as failures
from raw_feeds__attempts
group by source
order by source
