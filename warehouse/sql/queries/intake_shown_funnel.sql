-- One row per lane and runtime profile, for showing.
select lane, profile_id, registrations, provisioned, approved, paid, active
from out_intake__funnel
order by lane, profile_id
