-- One row: limb sums (most significant first) of transfers in ($after, $upto] from zero, to zero and from zero to zero,
-- and the number of all transfers there.
select
    [sum(value_raw.limb3) filter (minted), sum(value_raw.limb2) filter (minted),
     sum(value_raw.limb1) filter (minted), sum(value_raw.limb0) filter (minted)] as minted,
    [sum(value_raw.limb3) filter (to_zero), sum(value_raw.limb2) filter (to_zero),
     sum(value_raw.limb1) filter (to_zero), sum(value_raw.limb0) filter (to_zero)] as sent_to_zero,
    [sum(value_raw.limb3) filter (minted and to_zero), sum(value_raw.limb2) filter (minted and to_zero),
     sum(value_raw.limb1) filter (minted and to_zero), sum(value_raw.limb0) filter (minted and to_zero)] as zero_to_zero,
    count(*) as transfers
from (
    select value_raw, from_address = $zero as minted, to_address = $zero as to_zero
    from raw_chain__transfers
    where block_number > $after and block_number <= $upto
)
