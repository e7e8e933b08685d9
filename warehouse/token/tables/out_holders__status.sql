-- At most one row: the token, and the block up to which the chain is read.
create table if not exists out_holders__status (
    chain_id bigint not null,  -- EIP-155 chain id
    token_address varchar,  -- Token contract, lower-case hex; null where none is configured
    name varchar,  -- name() of the contract
    symbol varchar,  -- symbol() of the contract
    decimals integer,  -- decimals() of the contract: digits behind the point of one whole token
    block bigint,  -- Block that balances are folded to
    finalized_block bigint,  -- Block that reading aims at
    backfill_percent double,  -- Share of the history that is folded, 0..100
    recorded_at timestamp not null  -- Time of recording, UTC
);
