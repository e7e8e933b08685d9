-- One row per readable holder list, oldest first. Times are UTC, sum_raw is decimal text in smallest units.
select block, block_time, snapshot, holders, sum_raw, quality from out_holders__lists order by block
