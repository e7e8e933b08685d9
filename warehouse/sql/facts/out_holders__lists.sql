-- One row of facts about the newest holder list against the balances it was made from; 0 is right everywhere.
with newest as (
    select block, holders - (zero_held_raw <> '0')::bigint as holders from out_holders__lists order by block desc limit 1
)
select
    (select count(*) from out_holders__lists) as lists,
    coalesce((select block from core_holders__state), 0)
    - coalesce((select block from newest), 0) as blocks_behind_balances,
    (select count(*) from core_holders__balances where balance_raw > 0::bignum)
    - coalesce((select holders from newest), 0) as holders_missing,
    (select count(*) - count(distinct block) from out_holders__lists) as doubled_blocks
