-- At most one row: the pool at SVC_POOL_ADDRESS, as its contract and those of its tokens describe it.
create table if not exists raw_chain__pool (
    pool_address varchar not null,  -- The pool, lower-case hex
    token_address varchar not null,  -- The service token, lower-case hex
    token_place tinyint,  -- 0 if the service token is the pool's token0, 1 if it is token1; null if there is a reason
    decimals smallint,  -- Decimals of the service token; null if there is a reason
    other_decimals smallint,  -- Decimals of the other token; null if there is a reason
    currency varchar,  -- usd if the other token is USDC, eth if it is wrapped ether; null if there is a reason
    reason varchar,  -- Why no price follows from this pool, as a stable code
    read_at timestamp not null,  -- Time at which the contracts were read, UTC
    kind varchar  -- pair if its events give its reserves, concentrated if they give its price and the liquidity there;
    -- null if there is a reason
);
