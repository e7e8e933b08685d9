-- At most one row: the contract, its newest balance, and the block up to which its events are read. Without a contract
-- none is configured.
create table if not exists out_bidwall__status (
    chain_id bigint not null,  -- EIP-155 chain id
    contract_address varchar,  -- The watched contract, lower-case hex; null where none is configured
    service_token varchar,  -- The service token, lower-case hex, which scope odai selects
    usdc_address varchar,  -- USDC on this chain, lower-case hex; null where it is not configured
    trigger_wei varchar,  -- Balance at which the contract triggers, in wei as decimal text; null where none is
    -- configured
    balance_wei varchar,  -- Newest balance that was read, in wei as decimal text
    block bigint,  -- Block at which it was read
    block_hash varchar,  -- Its hash
    block_time timestamp,  -- Its time, UTC
    is_final boolean,  -- True if that block was final
    reason varchar,  -- Reason why the last reading failed; null if it succeeded
    fetched_at timestamp,  -- Time at which the balance was read, UTC
    events_block bigint,  -- Block up to which every transfer is stored
    events_block_hash varchar,  -- Its hash
    events_block_time timestamp,  -- Its time, UTC
    events_complete boolean,  -- True if that is the final block, up to which to read
    events_reason varchar,  -- Reason why rows up to there may be missing or wrong: balance_mismatch or nodes_disagree
    recorded_at timestamp not null  -- Time of recording, UTC
);

-- checks (blocking) state_is_of_one_block: The served state of the contract belongs to one block: a balance has its
-- block, hash and time, and no final event lies above the block up to which events are read.
select
    (
        select count(*) from out_bidwall__status
        where balance_wei is not null and (block is null or block_hash is null or block_time is null)
    ) as balances_without_block,
    (
        select count(*) from out_bidwall__events
        where finality = 'final' and block > coalesce((select events_block from out_bidwall__status), -1)
    ) as final_events_above_reach,
    (select count(*) - count(distinct (block, log_index)) from out_bidwall__events) as doubled_events
