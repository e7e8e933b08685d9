-- One row: a block above finality. Time is UTC.
insert into $tip_blocks (number, hash, parent_hash, block_time)
values (?, ?, ?, ?)
