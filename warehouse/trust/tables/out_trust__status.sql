-- At most one row: the contracts, the block of the scores, what the contract said there. No registry: none is
-- configured.
create table if not exists out_trust__status (
    chain_id bigint not null,  -- EIP-155 chain id
    registry varchar,  -- Registry contract, lower-case hex; null where none is configured
    escrow varchar,  -- Escrow contract, lower-case hex; null where none is configured
    half_life_s bigint,  -- Seconds in which the weight of an attestation halves
    block bigint,  -- Block up to which attestations are counted
    block_hash varchar,  -- Its hash
    block_time timestamp,  -- Its time, UTC
    level varchar,  -- How certain the block is: finalized, or by confirmations
    complete boolean not null,  -- Whether that is the final block that reading aims at
    attestations bigint not null,  -- Attestations counted
    agents bigint not null,  -- Agents with an attestation
    attesters bigint not null,  -- Who have attested
    checked bigint not null,  -- Answers of the contract at the block
    equal bigint not null,  -- Of these, how many say what we say
    check_reason varchar,  -- Why answers are missing; null where none is
    reason varchar,  -- Why there are no scores, or none up to date; null where there are
    recorded_at timestamp not null  -- When this was found, UTC
);
