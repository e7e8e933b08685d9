-- One row per holder with a balance above zero, by rank: the rows of a holder list. The query of the holders and the
-- relation of their kinds are inserted as text; $sum is the sum of all rows as decimal text in smallest units, and share
-- a fraction of it.
create or replace temp table holder_list as
with holders as (
    $holders
),
ranked as (
    select
        row_number() over (order by balance_raw desc, address) as rank,
        address,
        balance_raw::varchar as balance_raw,
        least(balance_raw::double / $sum::varchar::bignum::double, 1) as share,
        first_seen_at,
        first_held_at,
        last_active_at
    from holders
),
padded as (
    select *, lpad(balance_raw, greatest(length(balance_raw), $decimals + 1)::integer, '0') as digits
    from ranked
)
select
    rank,
    padded.address,
    balance_raw,
    case
        when $decimals is null then null
        when $decimals = 0 then balance_raw
        else rtrim(rtrim(left(digits, length(digits) - $decimals) || '.' || right(digits, $decimals), '0'), '.')
    end as balance,
    share,
    first_seen_at,
    first_held_at,
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
left join $kinds as kinds on padded.address = kinds.address
order by rank
