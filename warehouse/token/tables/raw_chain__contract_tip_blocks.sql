-- One row per block above finality whose transfers raw_chain__contract_tip_transfers contains; a chain by parent_hash.
create table if not exists raw_chain__contract_tip_blocks (
    number bigint,  -- Number of the block
    hash varchar,  -- Its hash, 0x hex
    parent_hash varchar,  -- Hash of the block before it, 0x hex
    block_time timestamp  -- Its time, UTC
);
