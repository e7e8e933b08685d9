-- Tables of the guardrail; each statement is idempotent.

-- One row per answered check, by its number in the log; latency in microseconds.
create table if not exists raw_guardrail__checks (
    seq bigint not null,
    checked_at timestamp not null,
    check_id varchar not null,
    source varchar not null,
    asked_severity varchar not null,
    severity varchar not null,
    passed boolean not null,
    matched varchar[] not null,
    warned_stages varchar[] not null,
    failed_stages varchar[] not null,
    rules_checked integer not null,
    ruleset_version varchar not null,
    latency_us bigint not null
);

-- One row per UTC day and stage, `all` for the checks of a day; latency in microseconds.
create table if not exists out_guardrail__daily (
    day date not null,
    stage varchar not null,
    checks bigint not null,
    blocked bigint not null,
    latency_p50_us double not null,
    latency_p99_us double not null
);
