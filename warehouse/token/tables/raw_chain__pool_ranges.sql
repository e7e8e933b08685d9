-- One row per contiguous range of blocks that was read for raw_chain__pool_reserves: its checkpoint.
create table if not exists raw_chain__pool_ranges (
    from_block bigint,  -- First block of the range
    to_block bigint,  -- Last block of the range; the next range begins one above
    to_block_hash varchar,  -- Hash of the last block: compared before reading continues
    to_block_time timestamp,  -- Time of the last block, UTC
    log_count bigint,  -- Events in the range
    payload_sha256 varchar,  -- Digest of the rows that were read
    rpc_host varchar,  -- Node that answered, without path or key
    reasked boolean,  -- True if the range was read a second time to detect silent gaps
    recorded_at timestamp  -- Time at which the range was committed, UTC
);
-- Earlier versions did not record a pool's kind and read its events under only one topic: they are read again.
delete from raw_chain__pool_ranges where exists (from raw_chain__pool where kind is null and reason is null);
