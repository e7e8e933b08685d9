-- One row per address whose balance changed between two lists by at least one percent of the later sum, the largest
-- twenty; change is a fraction of that sum.
with pairs as (
    select
        coalesce(b.address, a.address) as address,
        coalesce(a.balance_raw, '0')::double - coalesce(b.balance_raw, '0')::double as change
    from read_parquet($before) as b
    full join read_parquet($after) as a on b.address = a.address
    where a.balance_raw is distinct from b.balance_raw
)
select address, round(change / $sum::double, 6) as change
from pairs
where $sum::double > 0 and abs(change) >= 0.01 * $sum::double
order by abs(change) desc, address
limit 20
