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
