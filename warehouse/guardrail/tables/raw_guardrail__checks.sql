-- One row per answered check, by its number in the log; latency in microseconds.
create table if not exists raw_guardrail__checks (
    seq bigint not null,  -- Number in the log, in the order of writing
    checked_at timestamp not null,  -- Time of the answer, UTC
    check_id varchar not null,  -- Unique id of the check
    source varchar not null,  -- The room that received the check: api or mcp
    asked_severity varchar not null,  -- The impact that the caller claimed
    severity varchar not null,  -- The highest severity of a rule that matched, else none
    passed boolean not null,  -- True if the action may be taken
    matched varchar[] not null,  -- Ids of the rules that matched, most severe first
    warned_stages varchar[] not null,  -- Stages that matched without blocking
    failed_stages varchar[] not null,  -- Stages that blocked
    rules_checked integer not null,  -- Rules that were evaluated
    ruleset_version varchar not null,  -- Version of the rules in force
    latency_us bigint not null  -- Duration of judging, microseconds
);
