-- One row per holder with a balance above zero, by rank: the rows of a holder list. $zero_held is what the zero address
-- holds and $sum the sum of all rows, both decimal text in smallest units; share is a fraction of it.
create or replace temp table holder_list as
with holders as (
    select '0x' || lower(hex(address)) as address, balance_raw, first_seen_at, last_active_at
    from core_holders__balances
    where balance_raw > 0::bignum
    union all
    select '0x' || lower(hex($zero::blob)), $zero_held::varchar::bignum, min(block_time), max(block_time)
    from raw_chain__transfers
    where $zero_held::varchar <> '0' and to_address = $zero and block_number <= $block
    having $zero_held::varchar <> '0'
),
ranked as (
    select
        row_number() over (order by balance_raw desc, address) as rank,
        address,
        balance_raw::varchar as balance_raw,
        least(balance_raw::double / $sum::varchar::bignum::double, 1) as share,
        first_seen_at,
        last_active_at
    from holders
),
padded as (
    select *, lpad(balance_raw, greatest(length(balance_raw), $decimals + 1)::integer, '0') as digits
    from ranked
)
select
    rank,
    address,
    balance_raw,
    case
        when $decimals is null then null
        when $decimals = 0 then balance_raw
        else rtrim(rtrim(left(digits, length(digits) - $decimals) || '.' || right(digits, $decimals), '0'), '.')
    end as balance,
    share,
    first_seen_at,
    last_active_at,
    kinds.kind,
    case
        when share >= $whale then 'whale'
        when share >= $shark then 'shark'
        when share >= $dolphin then 'dolphin'
        when share >= $fish then 'fish'
        else 'shrimp'
    end as cohort
from padded
left join core_holders__kinds as kinds using (address)
order by rank
