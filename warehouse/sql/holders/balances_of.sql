-- One row per asked address that was ever seen: 0x text, balance as decimal text in smallest units.
select '0x' || lower(hex(address)), balance_raw::varchar
from core_holders__balances
where address in (select unnest($addresses::blob[]))
