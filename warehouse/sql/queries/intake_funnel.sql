-- One row per lane that has registrations: how many came how far.
select lane, sum(registrations)::bigint, sum(approved)::bigint, sum(paid)::bigint, sum(active)::bigint
from out_intake__funnel
group by lane
order by lane
