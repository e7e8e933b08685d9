-- At most one row: the contracts, the block of the scores and the contract's answers there. Without a registry none is
-- configured.
create table if not exists out_trust__status (
    chain_id bigint not null,  -- EIP-155 chain id
    registry varchar,  -- Registry contract, lower-case hex; null where none is configured
    escrow varchar,  -- Escrow contract, lower-case hex; null where none is configured
    half_life_s bigint,  -- Seconds in which the weight of an attestation halves
    block bigint,  -- Block up to which attestations are counted
    block_hash varchar,  -- Its hash
    block_time timestamp,  -- Its time, UTC
    level varchar,  -- Certainty of the block: finalized, or by confirmations
    complete boolean not null,  -- True if that is the final block, up to which to read
    attestations bigint not null,  -- Attestations counted
    agents bigint not null,  -- Agents with an attestation
    attesters bigint not null,  -- Different attesters
    checked bigint not null,  -- Answers of the contract at the block
    equal bigint not null,  -- Answers among these that equal ours
    check_reason varchar,  -- Reason why answers are missing; null where none is
    reason varchar,  -- Reason why there are no scores, or none up to date; null where there are
    recorded_at timestamp not null  -- Time of recording, UTC
);
