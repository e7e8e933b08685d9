-- One row per agent with an attestation. Sums of weights are in units of 1e-18.
create table if not exists core_trust__scores (
    agent varchar not null,  -- Attested agent, lower-case hex
    attestation_count bigint not null,  -- Its attestations
    weighted_score bigint not null,  -- Mean in which recent work weighs more, rounded down, 1..100
    average_score bigint not null,  -- Plain mean, rounded down, 1..100
    score_sum bigint not null,  -- Sum of all scores
    weight_sum hugeint not null,  -- Sum of weights at the last attestation, in units of 1e-18
    weighted_sum hugeint not null,  -- Sum of weighted scores then, in units of 1e-18
    last_attested_at timestamp not null  -- Time of the last attestation, UTC
);

-- checks (blocking) scores_follow_from_attestations: Scores follow from the attestations only: every attestation up
-- to the block is counted once, and scores lie within 1 to 100.
select
    (select count(*) from core_trust__scores) as checked_agents,
    (
        select count(*) from raw_chain__attestations
        where block_number <= coalesce((select block from core_trust__state), -1)
    ) - (select count(*) from core_trust__history) as attestations_not_counted,
    (
        select count(*)
        from core_trust__scores as held
        full join (
            select agent, count(*) as counted, max(number) as newest from core_trust__history group by agent
        ) as told using (agent)
        where held.attestation_count is distinct from told.counted or told.counted is distinct from told.newest
    ) as counts_unlike_history,
    (
        select count(*) from core_trust__scores
        where weighted_score not between 1 and 100 or average_score not between 1 and 100
    ) as scores_out_of_range,
    (select count(*) - count(distinct agent) from core_trust__scores) as doubled_agents
