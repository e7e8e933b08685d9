-- One row: sum of the balances above zero as decimal text in smallest units.
select coalesce(sum(balance_raw), 0::bignum)::varchar
from core_holders__balances
where balance_raw > 0::bignum
