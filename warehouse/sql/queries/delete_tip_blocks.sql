-- Drops the held blocks above finality that lie outside of [first, last].
delete from $tip_blocks
where number not between ? and ?
