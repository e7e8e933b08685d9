-- One row: how many block ranges were read a second time.
select count(*) filter (reasked)
from raw_chain__ranges
