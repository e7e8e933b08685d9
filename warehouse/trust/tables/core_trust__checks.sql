-- One row per query to the contract in the last two days. Without an answer it has a reason.
create table if not exists core_trust__checks (
    block bigint not null,  -- Block at which the contract was queried
    agent varchar not null,  -- Agent, lower-case hex
    min_score bigint not null,  -- The threshold of the query
    ours_meets boolean not null,  -- True if we find that it is met
    ours_score bigint not null,  -- Our weighted score
    theirs_meets boolean,  -- True if the contract finds that it is met; null without an answer
    theirs_score bigint,  -- The contract's score; null without an answer
    reason varchar,  -- Reason why there is no answer; null where there is one
    checked_at timestamp not null  -- Time of the query, UTC
);

-- checks (warning) contract_agrees: Scores equal the registry's at the same block, and the registry's own numbers
-- of each agent's attestations have no gap. Scores for which this is not true are published as estimated.
select
    (
        select count(theirs_meets) from core_trust__checks where block = (select max(block) from core_trust__checks)
    ) as checked_answers,
    (
        select count(*) from core_trust__checks
        where block = (select max(block) from core_trust__checks)
            and (theirs_meets <> ours_meets or theirs_score <> ours_score)
    ) as contradicted_scores,
    (
        select count(*) from (
            select number - lag(number, 1, 0) over (partition by agent order by block_number, log_index) as step
            from raw_chain__attestations
        )
        where step <> 1
    ) as number_gaps
