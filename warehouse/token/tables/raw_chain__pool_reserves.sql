-- One row per Sync event of the token's pool at or below finality, up to the first observed price: its reserves then.
create table if not exists raw_chain__pool_reserves (
    block_number bigint not null,  -- Block of the event
    log_index integer not null,  -- Position of the event among the logs of its block
    tx_hash blob not null,  -- Transaction, 32 bytes
    reserve0_raw u256 not null,  -- Reserve of the pool's token0 in its smallest unit: four 64-bit limbs, below 2^112
    reserve1_raw u256 not null,  -- Reserve of the pool's token1, likewise
    block_time timestamp not null,  -- Time of the block, UTC
    block_time_quality time_quality not null  -- exact from the node; estimated between two known blocks
);

-- checks (warning) pool_reserves_are_complete_and_single: Reserves of the pool are complete and single: ranges without
-- gaps, as many rows as the ranges say, no doubled event, no reserve of 2^112 or more.
select
    (select count(*) from raw_chain__pool_reserves) as checked_events,
    (select count(*) - count(distinct (block_number, log_index)) from raw_chain__pool_reserves) as doubled_events,
    (
        select coalesce(sum(log_count), 0)::bigint from raw_chain__pool_ranges
    ) - (select count(*) from raw_chain__pool_reserves) as rows_missing_from_ranges,
    (
        select count(*) from (
            select from_block - lag(to_block) over (order by from_block) as step from raw_chain__pool_ranges
        )
        where step <> 1
    ) as range_gaps,
    (
        select count(*) from raw_chain__pool_reserves
        where reserve0_raw >= row(0, 0, 1::ubigint << 48, 0)::u256 or reserve1_raw >= row(0, 0, 1::ubigint << 48, 0)::u256
    ) as reserves_out_of_range
