-- One row: what is served about the scores. Times are UTC.
insert into out_trust__status (
    chain_id, registry, escrow, half_life_s, block, block_hash, block_time, level, complete, attestations, agents,
    attesters, checked, equal, check_reason, reason, recorded_at
)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
