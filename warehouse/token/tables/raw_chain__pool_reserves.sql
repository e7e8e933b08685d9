-- One row per event of the token's pool that gives its reserves, at or below finality, up to the first observed price: a
-- pair's Sync contains them, and a concentrated pool's Swap gives virtual ones by its price and its depth there.
create table if not exists raw_chain__pool_reserves (
    block_number bigint not null,  -- Block of the event
    log_index integer not null,  -- Position of the event among the logs of its block
    tx_hash blob not null,  -- Transaction, 32 bytes
    reserve0_raw u256,  -- Of a Sync: reserve of the pool's token0 in its smallest unit, four 64-bit limbs, below 2^112
    reserve1_raw u256,  -- Of a Sync: reserve of the pool's token1, likewise
    block_time timestamp not null,  -- Time of the block, UTC
    block_time_quality time_quality not null,  -- exact from the node; estimated between two known blocks
    sqrt_price_x96 u256,  -- Of a Swap: square root of the price of token0 in token1, both in their smallest units,
    -- times 2^96, below 2^160
    liquidity_raw u256  -- Of a Swap: liquidity in range after it, below 2^128: the root of the product of the reserves
);
alter table raw_chain__pool_reserves alter column reserve0_raw drop not null;
alter table raw_chain__pool_reserves alter column reserve1_raw drop not null;
delete from raw_chain__pool_reserves where exists (from raw_chain__pool where kind is null and reason is null);

-- checks (warning) pool_reserves_are_complete_and_single: Reserves of the pool are complete and single: ranges without
-- gaps, as many rows as the ranges say, no doubled event, and each has the two numbers of one kind within their bounds.
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
        where
            (reserve0_raw is null) = (sqrt_price_x96 is null)
            or (reserve0_raw is null) <> (reserve1_raw is null)
            or (sqrt_price_x96 is null) <> (liquidity_raw is null)
            or greatest(reserve0_raw, reserve1_raw) >= row(0, 0, 1::ubigint << 48, 0)::u256
            or sqrt_price_x96 >= row(0, 1::ubigint << 32, 0, 0)::u256
            or liquidity_raw >= row(0, 1, 0, 0)::u256
    ) as reserves_out_of_range
