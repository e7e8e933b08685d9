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
