-- One row per question to the contract, of the last two days. Without an answer it has a reason.
create table if not exists core_trust__checks (
    block bigint not null,  -- Block at which the contract was asked
    agent varchar not null,  -- Agent, lower-case hex
    min_score bigint not null,  -- The threshold that was asked about
    ours_meets boolean not null,  -- True if we find that it is met
    ours_score bigint not null,  -- Our weighted score
    theirs_meets boolean,  -- True if the contract finds that it is met; null without an answer
    theirs_score bigint,  -- The contract's score; null without an answer
    reason varchar,  -- Reason why there is no answer; null where there is one
    checked_at timestamp not null  -- Time of the question, UTC
);
