-- One row per ERC-20 Transfer event, of any token, from or to the contract of the contract-balance family.
-- public: contract_transfers by block of block_number
create table if not exists raw_chain__contract_transfers (
    block_number bigint not null,  -- Block of the event
    log_index integer not null,  -- Position of the event among the logs of its block
    tx_hash blob not null,  -- Transaction, 32 bytes
    token_address blob not null,  -- ERC-20 that was moved, 20 bytes
    from_address blob not null,  -- Sender, 20 bytes
    to_address blob not null,  -- Recipient, 20 bytes
    value_raw u256 not null,  -- Amount in the token's smallest unit: four 64-bit limbs, most significant first
    block_time timestamp not null,  -- Time of the block, UTC
    block_time_quality time_quality not null  -- exact from the node; estimated between two known blocks
);

-- checks (blocking) contract_transfers_are_complete_and_single: Transfers of the watched contract are complete and
-- single: ranges without gaps, as many rows as the ranges say, no doubled event, each from or to the contract.
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
    (select count(*) from fresh) as checked_rows,
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
