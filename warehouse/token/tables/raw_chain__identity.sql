-- One row: the chain and token of this warehouse. Others are refused.
create table if not exists raw_chain__identity (
    chain_id bigint not null,  -- EIP-155 chain id
    genesis_hash varchar not null,  -- Hash of the chain's first block, 0x hex
    token_address varchar not null,  -- Token contract, lower-case hex
    start_block bigint not null,  -- First block that is read
    stamped_at timestamp not null  -- Time at which the warehouse was stamped, UTC
);
