-- One row: transfers and ranges held, ranges re-asked from a second node, first block (null when nothing is held).
select
    (select count(*) from raw_chain__transfers) as log_count,
    count(*) as range_count,
    count(*) filter (where reasked) as reasked_count,
    min(from_block) as from_block
from raw_chain__ranges
