-- One row per Transfer event of a block in raw_chain__tip_blocks: pending, may still leave the chain.
create table if not exists raw_chain__tip_transfers (
    block_number bigint not null,  -- Block of the event, above finality
    log_index integer not null,  -- Position of the event among the logs of its block
    tx_hash blob not null,  -- Transaction, 32 bytes
    from_address blob not null,  -- Sender, 20 bytes; the zero address is a mint
    to_address blob not null,  -- Recipient, 20 bytes; the zero address is a burn
    value_raw u256 not null,  -- Amount in the token's smallest unit: four 64-bit limbs, most significant first
    block_time timestamp not null,  -- Time of the block, UTC
    block_time_quality time_quality not null  -- exact from the node; estimated between two known blocks
);
