-- One row per transfer that touches the contract: the newest 40 of each token, final and pending ones.
create table if not exists out_bidwall__events (
    token varchar not null,  -- ERC-20 that was moved, lower-case hex
    block bigint not null,  -- Block of the event
    log_index integer not null,  -- Position of the event among the logs of its block
    transaction_hash varchar not null,  -- Transaction, lower-case hex
    sender varchar not null,  -- Sender, lower-case hex
    recipient varchar not null,  -- Recipient, lower-case hex
    direction varchar not null,  -- in, out, or self where the contract sends to itself
    value_raw u256 not null,  -- Amount in the token's smallest unit: four 64-bit limbs, most significant first
    block_time timestamp not null,  -- Time of the block, UTC
    time_quality varchar not null,  -- exact from the node; estimated between two known blocks
    finality varchar not null  -- final, or pending where the block may still leave the chain
);
