-- One row: the checkpoint of a contiguous range. Times are UTC.
insert into $ranges (
    from_block, to_block, to_block_hash, to_block_time, log_count,
    payload_sha256, rpc_host, reasked, recorded_at
)
values (?, ?, ?, ?, ?, ?, ?, ?, ?)
