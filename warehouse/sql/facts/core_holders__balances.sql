-- One row of facts about the balances: counts of rows that break a rule, and held - (minted - sent to zero) as text.
select
    (select count(*) from core_holders__balances) as addresses,
    coalesce((select max(to_block) from raw_chain__ranges), -1)
    - coalesce((select block from core_holders__state), -1) as blocks_not_folded,
    (select count(*) - count(distinct address) from core_holders__balances) as doubled_addresses,
    (
        select count(*) from core_holders__balances
        where address = '\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'::blob
    ) as zero_address_rows,
    (
        coalesce((select sum(balance_raw) from core_holders__balances), 0::bignum)
        - coalesce((select minted_raw - sent_to_zero_raw from core_holders__state), 0::bignum)
    )::varchar as held_less_supply
