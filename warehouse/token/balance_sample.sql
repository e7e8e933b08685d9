-- Holders whose balances to request from the contract, as 0x text, with their balances as decimal text in smallest units:
-- the $largest ones, then the first one at or after each point in address order (the very first if none follows).
with holders as materialized (
    select address, balance_raw
    from core_holders__balances
    where balance_raw > 0::bignum
),
points as (
    select unnest($points::blob[]) as point, generate_subscripts($points::blob[], 1) as position
),
drawn as (
    select points.position, coalesce(min(address) filter (address >= points.point), min(address)) as address
    from points
    cross join holders
    group by points.position
)
select '0x' || lower(hex(address)), balance_raw::varchar
from (
    (select address, balance_raw, 0 as position from holders order by balance_raw desc, address limit $largest)
    union all
    (select address, balance_raw, drawn.position from drawn join holders using (address))
)
order by position, balance_raw desc, address
