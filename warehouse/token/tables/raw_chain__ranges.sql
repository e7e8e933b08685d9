-- One row per contiguous range read: the checkpoint, written in the transaction that stores the range's rows.
create table if not exists raw_chain__ranges (
    from_block bigint not null,  -- First block of the range
    to_block bigint not null,  -- Last block of the range; the next range begins one above
    to_block_hash varchar not null,  -- Hash of the last block: compared before reading continues
    to_block_time timestamp not null,  -- Time of the last block, UTC
    log_count bigint not null,  -- Transfer events in the range
    payload_sha256 varchar not null,  -- Digest of the answer that was read
    rpc_host varchar not null,  -- Node that answered, without path or key
    reasked boolean not null,  -- True if the range was read a second time to detect silent gaps
    recorded_at timestamp not null  -- Time at which the range was committed, UTC
);
