-- Adds the changes of the touched addresses to their balances; new addresses start with theirs.
merge into core_holders__balances as held
using (select * exclude (delta), delta::bignum as delta_raw from holder_deltas) as moved
on held.address = moved.address
when matched then update set
    balance_raw = held.balance_raw + moved.delta_raw,
    last_active_at = moved.last_active_at,
    last_block = moved.last_block
when not matched then insert
    (address, balance_raw, first_seen_at, last_active_at, first_block, last_block)
    values (
        moved.address, moved.delta_raw, moved.first_seen_at, moved.last_active_at, moved.first_block, moved.last_block
    )
