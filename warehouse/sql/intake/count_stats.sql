-- One row per UTC day of receipt and lane: registrations, those of new identities, forgotten ones.
insert into out_intake__stats
select day, lane, count(*), count(*) filter (not repeats), count(*) filter (forgotten)
from raw_ledger__intakes
group by day, lane
