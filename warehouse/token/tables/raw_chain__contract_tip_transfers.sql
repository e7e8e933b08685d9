-- One row per Transfer event of a block in raw_chain__contract_tip_blocks: pending, may still leave the chain.
create table if not exists raw_chain__contract_tip_transfers (
    block_number bigint,  -- Block of the event, above finality
    log_index integer,  -- Position of the event among the logs of its block
    tx_hash blob,  -- Transaction, 32 bytes
    token_address blob,  -- ERC-20 that was moved, 20 bytes
    from_address blob,  -- Sender, 20 bytes
    to_address blob,  -- Recipient, 20 bytes
    value_raw u256,  -- Amount in the token's smallest unit: four 64-bit limbs, most significant first
    block_time timestamp,  -- Time of the block, UTC
    block_time_quality time_quality  -- exact from the node; estimated between two known blocks
);
