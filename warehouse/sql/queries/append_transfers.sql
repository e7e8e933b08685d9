-- Appends the registered rows `incoming`: one per Transfer event, values as u256, times UTC.
insert into raw_chain__transfers
select
    block_number, log_index, tx_hash, from_address, to_address,
    value_raw, block_time, block_time_quality
from incoming
