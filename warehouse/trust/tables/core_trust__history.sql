-- One row per attestation, and what the agent's scores were after it.
create table if not exists core_trust__history (
    agent varchar not null,  -- Attested agent, lower-case hex
    number bigint not null,  -- Attestations of the agent up to here, by our count
    block bigint not null,  -- Block of the attestation
    log_index integer not null,  -- Place of the event among the logs of its block
    attester varchar not null,  -- Who attests, lower-case hex
    job_id varchar not null,  -- The job, lower-case hex
    score bigint not null,  -- 1 to 100
    weighted_score bigint not null,  -- The agent's weighted score after it
    average_score bigint not null,  -- The agent's plain mean after it
    attested_at timestamp not null,  -- Time of the attestation, UTC
    metadata_uri varchar not null  -- Where the attester says more
);
