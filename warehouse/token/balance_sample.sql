-- Addresses (0x text) to ask the contract about: the $largest holders first, then the first holder at or after each
-- point in address order, the first of all where none follows.
with holders as materialized (
    select address, balance_raw
    from core_holders__balances
    where balance_raw > 0::bignum
),
largest as (
    select address, row_number() over (order by balance_raw desc, address) as position
    from (from holders order by balance_raw desc, address limit $largest)
),
points as (
    select unnest($points::blob[]) as point, generate_subscripts($points::blob[], 1) as position
),
drawn as (
    select coalesce(holders.address, (select min(address) from holders)) as address, points.position
    from points
    asof left join holders on points.point <= holders.address
)
select '0x' || lower(hex(address))
from (
    select address, position from largest
    union all
    select address, 1000000 + position from drawn where address is not null
)
order by position
