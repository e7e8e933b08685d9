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
