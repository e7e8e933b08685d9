-- One row per Transfer event at or below finality, ordered by (block_number, log_index).
-- public: transfers by block of block_number
create table if not exists raw_chain__transfers (
    block_number bigint not null,  -- Block of the event
    log_index integer not null,  -- Position of the event among the logs of its block
    tx_hash blob not null,  -- Transaction, 32 bytes
    from_address blob not null,  -- Sender, 20 bytes; the zero address is a mint
    to_address blob not null,  -- Recipient, 20 bytes; the zero address is a burn
    value_raw u256 not null,  -- Amount in the token's smallest unit: four 64-bit limbs, most significant first
    block_time timestamp not null,  -- Time of the block, UTC
    block_time_quality time_quality not null  -- exact from the node; estimated between two known blocks
);

-- for files of versions in which the last block of an hour or day was that at which a run ended
update out_holders__daily as series set last_block = newest.block
from (
    select start, block
    from out_holders__daily
    asof join (
        select max(block_number) as block, max(block_time) as block_time
        from raw_chain__transfers
        where block_number <= (select max(to_block) from out_holders__history)
        group by time_bucket(interval 1 day, block_time)
    ) as moved on moved.block_time < start + interval 1 day
) as newest
where series.start = newest.start and series.last_block <> newest.block;
update out_holders__hourly as series set last_block = newest.block
from (
    select start, block
    from out_holders__hourly
    asof join (
        select max(block_number) as block, max(block_time) as block_time
        from raw_chain__transfers
        where block_number <= (select max(to_block) from out_holders__history)
        group by time_bucket(interval 1 hour, block_time)
    ) as moved on moved.block_time < start + interval 1 hour
) as newest
where series.start = newest.start and series.last_block <> newest.block;

-- checks (blocking) transfers_are_complete_and_single: Transfers are complete and single: ranges without gaps, as
-- many rows as the ranges say, no doubled event, no malformed address. Rows are checked once, when they are new.
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
    (select count(*) from fresh) as checked_rows,
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
