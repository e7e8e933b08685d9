-- One row per block at which the balance was read, or per failed reading: reason says why, and the balance is null.
-- public: contract_balances by day of fetched_at
create table if not exists raw_bidwall__balances (
    contract_address varchar not null,  -- The watched contract, lower-case hex
    block bigint,  -- Block at which the balance was read; null where reading failed
    block_hash varchar,  -- Its hash
    block_time timestamp,  -- Its time, UTC
    is_final boolean,  -- True if the block was final; else it was the newest, because the node had no older state
    balance_wei bignum,  -- Native balance in wei; exact over uint256
    reason varchar,  -- Reason why there is no balance; null where there is one
    fetched_at timestamp not null  -- Time of the chain's answer, UTC
);
