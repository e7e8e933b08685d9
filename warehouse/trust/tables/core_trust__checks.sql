-- One row per question that the contract was asked, of the last two days. Without an answer, reason says why.
create table if not exists core_trust__checks (
    block bigint not null,  -- Block at which the contract was asked
    agent varchar not null,  -- About whom, lower-case hex
    min_score bigint not null,  -- The threshold that was asked about
    ours_meets boolean not null,  -- Whether we say that it is met
    ours_score bigint not null,  -- Our weighted score
    theirs_meets boolean,  -- Whether the contract says that it is met; null without an answer
    theirs_score bigint,  -- The contract's score; null without an answer
    reason varchar,  -- Why there is no answer; null where there is one
    checked_at timestamp not null  -- When it was asked, UTC
);
