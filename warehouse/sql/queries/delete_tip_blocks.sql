-- Drops the held blocks above finality that lie outside of [first, last].
delete from raw_chain__tip_blocks
where number not between ? and ?
