-- At most one row: the token, and the block up to which the chain is read.
create table if not exists out_holders__status (
    chain_id bigint not null,  -- EIP-155 chain id
    token_address varchar,  -- Token contract, lower-case hex; null where none is configured
    name varchar,  -- name() of the contract
    symbol varchar,  -- symbol() of the contract
    decimals integer,  -- decimals() of the contract: decimal places of one whole token
    block bigint,  -- Block up to which balances are folded
    finalized_block bigint,  -- Final block, up to which to read
    backfill_percent double,  -- Share of the history that is folded, 0..100
    recorded_at timestamp not null  -- Time of recording, UTC
);
