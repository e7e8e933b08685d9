-- One row: a block above finality. Time is UTC.
insert into raw_chain__tip_blocks (number, hash, parent_hash, block_time)
values (?, ?, ?, ?)
