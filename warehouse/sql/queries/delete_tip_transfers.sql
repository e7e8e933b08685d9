-- Drops the pending transfers whose block lies outside of [first, last].
delete from raw_chain__tip_transfers
where block_number not between ? and ?
