-- At most one row: the token, and how far the chain is read. Times are UTC, backfill_percent is 0..100.
create table if not exists out_holders__status (
    chain_id bigint not null,  -- EIP-155 chain id
    token_address varchar,  -- Token contract, lower-case hex; null where none is configured
    name varchar,  -- name() of the contract
    symbol varchar,  -- symbol() of the contract
    decimals integer,  -- decimals() of the contract: digits behind the point of one whole token
    block bigint,  -- Block that balances are folded to
    finalized_block bigint,  -- Block that reading aims at
    backfill_percent double,  -- How much of the history is folded, 0..100
    recorded_at timestamp not null  -- When this was found, UTC
);
