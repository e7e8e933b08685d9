-- One row per UTC day and lane of the newest days, for showing.
select day::varchar as day, lane, registrations, distinct_identities, forgotten
from out_intake__stats
order by day desc, lane
limit 20
