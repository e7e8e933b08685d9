-- One row per attestation of the trust registry at or below finality, ordered by (block_number, log_index).
-- public: attestations by block of block_number without metadata_uri
create table if not exists raw_chain__attestations (
    block_number bigint not null,  -- Block of the event
    log_index integer not null,  -- Position of the event among the logs of its block
    tx_hash blob not null,  -- Transaction, 32 bytes
    agent blob not null,  -- Attested agent, 20 bytes
    attester blob not null,  -- Attester, 20 bytes
    job_id blob not null,  -- The job, 32 bytes; one attester attests it once for one agent
    number bigint not null,  -- The contract's count of the agent's attestations so far: the first is 1
    score bigint not null,  -- 1 to 100
    attested_at timestamp not null,  -- The contract's time of the attestation, UTC
    metadata_uri varchar not null,  -- Address of the attester's further statement, at most 512 bytes
    block_time timestamp not null,  -- Time of the block, UTC
    block_time_quality time_quality not null  -- exact from the node; estimated between two known blocks
);

-- checks (blocking) attestations_are_complete_and_single: Attestations are complete and single: ranges without gaps,
-- as many rows as the ranges say, no doubled event, scores of 1 to 100.
select
    (select count(*) from raw_chain__attestations) as checked_events,
    (select count(*) - count(distinct (block_number, log_index)) from raw_chain__attestations) as doubled_events,
    (
        select coalesce(sum(log_count), 0)::bigint from raw_chain__attestation_ranges
    ) - (select count(*) from raw_chain__attestations) as rows_missing_from_ranges,
    (
        select count(*) from (
            select from_block - lag(to_block) over (order by from_block) as step from raw_chain__attestation_ranges
        )
        where step <> 1
    ) as range_gaps,
    (select count(*) from raw_chain__attestations where score not between 1 and 100) as scores_out_of_range
