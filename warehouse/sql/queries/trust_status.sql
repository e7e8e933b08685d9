-- At most one row: the contracts, the block of the scores, and what the contract said there. Times are UTC.
select
    chain_id, registry, escrow, half_life_s, block, block_hash, block_time, level, complete, attestations, agents,
    attesters, checked, equal, check_reason, reason, recorded_at
from out_trust__status
