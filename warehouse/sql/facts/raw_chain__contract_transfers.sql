-- One row of facts about raw_chain__contract_transfers: counts of rows that break a rule; 0 is right everywhere.
select
    (select count(*) from raw_chain__contract_transfers) as events,
    (select count(*) - count(distinct (block_number, log_index)) from raw_chain__contract_transfers) as doubled_events,
    (
        select coalesce(sum(log_count), 0)::bigint from raw_chain__contract_ranges
    ) - (select count(*) from raw_chain__contract_transfers) as rows_missing_from_ranges,
    (
        select count(*) from (
            select from_block - lag(to_block) over (order by from_block) as step from raw_chain__contract_ranges
        )
        where step <> 1
    ) as range_gaps,
    (
        select count(*) from raw_chain__contract_transfers
        where (select address from raw_chain__subjects where rows_table = 'raw_chain__contract_transfers')
            not in ('0x' || lower(hex(from_address)), '0x' || lower(hex(to_address)))
    ) as strangers
