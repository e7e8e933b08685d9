-- One row per block above finality whose transfers are stored, at most the newest 256; a chain by parent_hash.
create table if not exists raw_chain__tip_blocks (
    number bigint not null,  -- Number of the block
    hash varchar not null,  -- Its hash, 0x hex
    parent_hash varchar not null,  -- Hash of the block before it, 0x hex
    block_time timestamp not null  -- Its time, UTC
);
