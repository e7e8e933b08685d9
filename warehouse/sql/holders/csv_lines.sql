-- The lines `address,balance_raw` of the ranked list, largest first, joined into texts of 20,000 lines.
select string_agg(address || ',' || balance_raw, chr(10) order by rank) || chr(10)
from holder_list
group by rank // 20000
order by rank // 20000
