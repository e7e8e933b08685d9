-- One row per recorded list, newest first: block, when taken (UTC), whether it is a persisted snapshot.
select block, taken_at, snapshot
from out_holders__lists
order by block desc
