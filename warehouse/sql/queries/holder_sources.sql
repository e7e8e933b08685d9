-- One row per other source: its latest holder count, or why it has none.
select source, theirs, reason, fetched_at
from out_holders__sources
order by source
