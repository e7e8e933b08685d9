-- name: facts_core_holders__balances
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

-- name: facts_out_holders__lists
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

-- name: facts_raw_chain__attestations
-- One row of facts about raw_chain__attestations: counts of rows that break a rule; 0 is right everywhere.
select
    (select count(*) from raw_chain__attestations) as events,
    (select count(*) - count(distinct (block_number, log_index)) from raw_chain__attestations) as doubled_events,
    (
        select coalesce(sum(log_count), 0)::bigint from raw_chain__attestation_ranges
    ) - (select count(*) from raw_chain__attestations) as rows_missing_from_ranges,
    (
        select count(*) from (
            select from_block - lag(to_block) over (order by from_block) as step from raw_chain__attestation_ranges
        )
        where step <> 1
    ) as range_gaps,
    (select count(*) from raw_chain__attestations where score not between 1 and 100) as scores_out_of_range,
    (
        select count(*) from (
            select number - lag(number) over (partition by agent order by block_number, log_index) as step
            from raw_chain__attestations
        )
        where step <> 1
    ) as number_gaps

-- name: facts_raw_chain__contract_transfers
-- One row of facts about the contract's transfers above block $after_block: counts of rows that break a rule; 0 is right.
with fresh as (
    select block_number, log_index, from_address, to_address
    from raw_chain__contract_transfers
    where block_number > $after_block
),
ranges as (
    select from_block, to_block, log_count, from_block - lag(to_block) over (order by from_block) as step
    from raw_chain__contract_ranges
)
select
    (select count(*) from fresh) as fresh_rows,
    (select count(*) - count(distinct (block_number, log_index)) from fresh) as doubled_events,
    (
        select coalesce(sum(log_count), 0)::bigint from ranges where from_block > $after_block
    ) - (select count(*) from fresh) as rows_missing_from_ranges,
    (select count(*) from ranges where step <> 1) as range_gaps,
    (
        select count(*) from fresh
        where (select address from raw_chain__subjects where rows_table = 'raw_chain__contract_transfers')
            not in ('0x' || lower(hex(from_address)), '0x' || lower(hex(to_address)))
    ) as strangers,
    (select coalesce(max(to_block), $after_block) from ranges) as checked_to_block

-- name: facts_raw_chain__transfers
-- One row of facts about the transfers above block $after_block: counts of rows that break a rule; 0 is right everywhere.
with fresh as (
    select block_number, log_index, tx_hash, from_address, to_address, block_time
    from raw_chain__transfers
    where block_number > $after_block
),
ranges as (
    select
        from_block,
        to_block,
        log_count,
        lag(to_block) over (order by from_block) as previous_to_block
    from raw_chain__ranges
)
select
    (select count(*) from fresh) as fresh_rows,
    (select count(*) - count(distinct (block_number, log_index)) from fresh) as doubled_events,
    (
        select count(*) from fresh
        where octet_length(from_address) <> 20 or octet_length(to_address) <> 20 or octet_length(tx_hash) <> 32
    ) as malformed_rows,
    (
        select coalesce(sum(log_count), 0) from ranges where from_block > $after_block
    ) - (select count(*) from fresh) as rows_missing_from_ranges,
    (select count(*) from ranges where from_block <> previous_to_block + 1) as range_gaps,
    (
        select count(*) from (
            select block_time < lag(block_time) over (order by block_number, log_index) as goes_back from fresh
        ) where goes_back
    ) as times_going_back,
    (select coalesce(max(to_block), $after_block) from ranges) as checked_to_block
