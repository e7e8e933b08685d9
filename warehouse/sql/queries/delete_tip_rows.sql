-- Drops the pending rows of $tip_rows whose block lies outside of [first, last].
delete from $tip_rows
where block_number not between ? and ?
