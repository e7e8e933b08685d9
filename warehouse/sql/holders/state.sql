-- At most one row: up to where transfers are folded; amounts as decimal text in smallest units.
select
    block, block_hash, block_time, minted_raw::varchar, sent_to_zero_raw::varchar, zero_to_zero_raw::varchar, transfers
from core_holders__state
