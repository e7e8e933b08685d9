-- The newest block that is held at or before a time (UTC), with its number; no row where none is.
select max(block_number) as block
from raw_chain__transfers
where block_time <= $moment
having max(block_number) is not null
