-- name: append_history
-- Appends the attestations of the JSON array $rows with the scores after them. Times are given as Unix seconds.
insert into core_trust__history by name
select * exclude (attested_at_s), make_timestamp(attested_at_s * 1000000) as attested_at
from (
    select unnest(
        from_json(
            $rows::json,
            '[{"agent": "varchar", "number": "bigint", "block": "bigint", "log_index": "integer",
               "attester": "varchar", "job_id": "varchar", "score": "bigint", "weighted_score": "bigint",
               "average_score": "bigint", "attested_at_s": "bigint", "metadata_uri": "varchar"}]'
        ),
        recursive := true
    )
)

-- name: append_scores
-- Appends the agents of the JSON array $rows. Times are given as Unix seconds, sums of weights as decimal text.
insert into core_trust__scores by name
select
    * exclude (last_at_s) replace (weight_sum::hugeint as weight_sum, weighted_sum::hugeint as weighted_sum),
    make_timestamp(last_at_s * 1000000) as last_attested_at
from (
    select unnest(
        from_json(
            $rows::json,
            '[{"agent": "varchar", "attestation_count": "bigint", "weighted_score": "bigint",
               "average_score": "bigint", "score_sum": "bigint", "weight_sum": "varchar", "weighted_sum": "varchar",
               "last_at_s": "bigint"}]'
        ),
        recursive := true
    )
)

-- name: attestations_after
-- One row per attestation after block $after, in the order of the chain. Addresses and job as hex, times as Unix seconds.
select
    '0x' || lower(hex(agent)) as agent,
    number,
    block_number,
    log_index,
    '0x' || lower(hex(attester)) as attester,
    '0x' || lower(hex(job_id)) as job_id,
    score,
    epoch(attested_at)::bigint as attested_at_s,
    metadata_uri
from raw_chain__attestations
where block_number > $after
order by block_number, log_index

-- name: attestation_gaps
-- One row: the number of attestations whose number in the registry does not follow the previous one of the same agent.
select count(*)
from (
    select number - lag(number, 1, 0) over (partition by agent order by block_number, log_index) as step
    from raw_chain__attestations
)
where step <> 1

-- name: newest_checks
-- One row: the newest block that was checked, the number of answers there, of equal ones, and why answers are missing.
select
    max(block) as block,
    count(theirs_meets) as checked,
    count(*) filter (where theirs_meets = ours_meets and theirs_score = ours_score) as equal,
    min(reason) as reason
from core_trust__checks
where block = (select max(block) from core_trust__checks)

-- name: newly_attested
-- One row per agent that was attested after the newest block at which the contract was queried.
select distinct agent
from core_trust__history
where block > coalesce((select max(block) from core_trust__checks), -1)

-- name: standings
-- One row per agent: its standing as the registry stores it. Times as Unix seconds.
select agent, attestation_count, epoch(last_attested_at)::bigint, score_sum, weight_sum, weighted_sum
from core_trust__scores
where list_contains($agents, agent)

-- name: trust_best
-- One row per agent, the ten best, best first. Times are UTC.
select agent, weighted_score, average_score, attestation_count, last_attested_at
from core_trust__scores
order by weighted_score desc, agent
limit 10

-- name: trust_checks
-- One row per query at the newest block that was checked: our answer, and the contract's.
select block, agent, min_score, ours_score, theirs_score, ours_meets, theirs_meets, reason
from core_trust__checks
where block = (select max(block) from core_trust__checks)
order by agent, min_score

-- name: trust_listed_agents
-- One row per agent, best first, at most $limit. Times are UTC.
select agent, weighted_score, average_score as trust_score, attestation_count, last_attested_at
from core_trust__scores
order by weighted_score desc, agent
limit $limit

-- name: trust_listed_attestations
-- One row per attestation, newest first, at most $limit. Times are UTC.
select agent, attester, score, weighted_score, job_id, block, attested_at
from core_trust__history
order by block desc, log_index desc
limit $limit

-- name: trust_listed_attesters
-- One row per attester, those with the most attestations first, at most $limit. Times are UTC.
select
    attester,
    count(*) as attestation_count,
    count(distinct agent) as agent_count,
    (sum(score) // count(*))::bigint as mean_score,
    max(attested_at) as last_attested_at
from core_trust__history
group by attester
order by attestation_count desc, attester
limit $limit

-- name: trust_newest_attestations
-- One row per attestation with the scores after it, the newest ten, newest first. Times are UTC.
select block, agent, number, score, weighted_score, average_score, attester, attested_at
from core_trust__history
order by block desc, log_index desc
limit 10

-- name: trust_reach
-- At most one row: the last block up to which attestations are stored, its hash and its time (UTC).
select to_block, to_block_hash, to_block_time
from raw_chain__attestation_ranges
order by to_block desc
limit 1

-- name: trust_score
-- At most one row: the scores of $agent (lower-case hex). Times are UTC.
select attestation_count, weighted_score, average_score, last_attested_at
from out_trust__scores
where agent = $agent

-- name: trust_status
-- At most one row: the contracts, the block of the scores, and the result of comparing them there. Times are UTC.
select
    chain_id, registry, escrow, half_life_s, block, block_hash, block_time, level, complete, attestations, agents,
    attesters, checked, equal, check_reason, reason, recorded_at
from out_trust__status

-- name: trust_totals
-- One row: the numbers of counted attestations, agents and attesters.
select
    (select count(*) from core_trust__history) as attestations,
    (select count(*) from core_trust__scores) as agents,
    (select count(distinct attester) from core_trust__history) as attesters
