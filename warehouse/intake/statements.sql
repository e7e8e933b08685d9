-- name: intake_days
-- One row per UTC day that has registrations, newest first, at most 90: registrations by lane.
select
    day::varchar as day,
    coalesce(sum(registrations) filter (lane = 'agent'), 0)::bigint as agent,
    coalesce(sum(registrations) filter (lane = 'human'), 0)::bigint as human,
    coalesce(sum(registrations) filter (lane = 'enterprise'), 0)::bigint as enterprise
from out_intake__stats
group by out_intake__stats.day
order by out_intake__stats.day desc
limit 90

-- name: intake_funnel
-- One row per lane that has registrations: the number that reached each stage.
select lane, sum(registrations)::bigint, sum(approved)::bigint, sum(paid)::bigint, sum(active)::bigint
from out_intake__funnel
group by lane
order by lane

-- name: intake_settings
-- At most one row: the settings that were recorded last, and when (UTC).
select chain_id, missing_payment_settings, app_url, checked_at from out_intake__settings

-- name: put_intakes
-- Replaces intakes by their current state; $rows is a JSON array of them.
insert or replace into raw_ledger__intakes
select
    r.graph_key, r.lane, r.profile_id, r.day, r.current_state, r.review_state, r.activation_state, r.repeats = 1,
    r.forgotten = 1
from (
    select unnest(from_json($rows::json, '[{
        "graph_key": "varchar", "lane": "varchar", "profile_id": "varchar", "day": "date", "current_state": "varchar",
        "review_state": "varchar", "activation_state": "varchar", "repeats": "integer", "forgotten": "integer"
    }]')) as r
)
