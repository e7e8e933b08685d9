-- Addresses (0x text) among the $largest holders whose kind was never looked up, largest first.
select '0x' || lower(hex(address))
from (
    select address, balance_raw
    from core_holders__balances
    where balance_raw > 0::bignum
    order by balance_raw desc, address
    limit $largest
)
where '0x' || lower(hex(address)) not in (select address from core_holders__kinds)
order by balance_raw desc, address
