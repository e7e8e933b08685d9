-- One row per agent: its scores as served.
-- public: trust_scores
create table if not exists out_trust__scores (
    agent varchar not null,  -- Attested agent, lower-case hex
    attestation_count bigint not null,  -- Its attestations
    weighted_score bigint not null,  -- Mean in which recent work weighs more, rounded down
    average_score bigint not null,  -- Plain mean, rounded down
    last_attested_at timestamp not null  -- Time of the last attestation, UTC
);
