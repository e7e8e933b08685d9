-- One row: transfers of the token out of a pool (buys) and into it (sells) since $since (UTC), final and pending, and
-- their amounts together as sums of 64-bit limbs, s0 the lowest. `read_to` is the newest block time that is held.
with moves as (
    select from_address, to_address, value_raw from raw_chain__transfers where block_time > $since
    union all
    select from_address, to_address, value_raw from raw_chain__tip_transfers where block_time > $since
),
trades as (
    select from_address = $pool as bought, value_raw
    from moves
    where (from_address = $pool) <> (to_address = $pool) and from_address <> unhex(repeat('00', 20))
)
select
    count(*) filter (where bought) as buys,
    count(*) filter (where not bought) as sells,
    coalesce(sum(value_raw.limb3::hugeint), 0) as s3,
    coalesce(sum(value_raw.limb2::hugeint), 0) as s2,
    coalesce(sum(value_raw.limb1::hugeint), 0) as s1,
    coalesce(sum(value_raw.limb0::hugeint), 0) as s0,
    (select max(to_block_time) from raw_chain__ranges) as read_to
from trades
