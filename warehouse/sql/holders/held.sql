-- One row: sum of all balances as decimal text in smallest units, how many are negative, how many are positive.
select
    coalesce(sum(balance_raw), 0::bignum)::varchar,
    count(*) filter (balance_raw < 0::bignum),
    count(*) filter (balance_raw > 0::bignum)
from core_holders__balances
