-- One row per attestation, with the agent's scores after it.
create table if not exists core_trust__history (
    agent varchar not null,  -- Attested agent, lower-case hex
    number bigint not null,  -- Our count of the agent's attestations up to here
    block bigint not null,  -- Block of the attestation
    log_index integer not null,  -- Position of the event among the logs of its block
    attester varchar not null,  -- Attester, lower-case hex
    job_id varchar not null,  -- The job, lower-case hex
    score bigint not null,  -- 1 to 100
    weighted_score bigint not null,  -- The agent's weighted score after it
    average_score bigint not null,  -- The agent's plain mean after it
    attested_at timestamp not null,  -- Time of the attestation, UTC
    metadata_uri varchar not null  -- Address of the attester's further statement
);
