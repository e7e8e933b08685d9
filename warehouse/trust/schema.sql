-- Tables of the trust room; each statement is idempotent. Scores are 0 to 100, times UTC.

-- At most one row: up to which block attestations are counted, of which registry, with which half-life.
create table if not exists core_trust__state (
    registry varchar not null,
    half_life_s bigint not null,
    block bigint not null,
    block_hash varchar not null,
    block_time timestamp not null
);

-- One row per agent with an attestation: what the registry keeps of it. Sums of weights are in units of 1e-18.
create table if not exists core_trust__scores (
    agent varchar not null,
    attestation_count bigint not null,
    weighted_score bigint not null,
    average_score bigint not null,
    score_sum bigint not null,
    weight_sum hugeint not null,
    weighted_sum hugeint not null,
    last_attested_at timestamp not null
);

-- One row per attestation, and what the agent's scores were after it.
create table if not exists core_trust__history (
    agent varchar not null,
    number bigint not null,
    block bigint not null,
    log_index integer not null,
    attester varchar not null,
    job_id varchar not null,
    score bigint not null,
    weighted_score bigint not null,
    average_score bigint not null,
    attested_at timestamp not null,
    metadata_uri varchar not null
);

-- One row per question that the contract was asked, of the last two days. Without an answer, reason says why.
create table if not exists core_trust__checks (
    block bigint not null,
    agent varchar not null,
    min_score bigint not null,
    ours_meets boolean not null,
    ours_score bigint not null,
    theirs_meets boolean,
    theirs_score bigint,
    reason varchar,
    checked_at timestamp not null
);

-- One row per agent: its scores as served.
create table if not exists out_trust__scores (
    agent varchar not null,
    attestation_count bigint not null,
    weighted_score bigint not null,
    average_score bigint not null,
    last_attested_at timestamp not null
);

-- At most one row: the contracts, the block of the scores, what the contract said there. No registry: none is configured.
create table if not exists out_trust__status (
    chain_id bigint not null,
    registry varchar,
    escrow varchar,
    half_life_s bigint,
    block bigint,
    block_hash varchar,
    block_time timestamp,
    level varchar,
    complete boolean not null,
    attestations bigint not null,
    agents bigint not null,
    attesters bigint not null,
    checked bigint not null,
    equal bigint not null,
    check_reason varchar,
    reason varchar,
    recorded_at timestamp not null
);
