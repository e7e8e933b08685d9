-- One row per readable holder list, newest first. Times are UTC, sum_raw is decimal text in smallest units.
select
    block, block_hash, block_time, level, taken_at, snapshot, holders, sum_raw, quality, proof::varchar,
    concentration::varchar
from out_holders__lists
order by block desc
