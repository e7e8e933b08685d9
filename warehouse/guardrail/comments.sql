-- What each column of the guardrail's tables means; applied to an empty copy of the schema.
comment on column raw_guardrail__checks.seq is 'Number in the log, in the order of writing';
comment on column raw_guardrail__checks.checked_at is 'When it was answered, UTC';
comment on column raw_guardrail__checks.check_id is 'Hash of the request and the ruleset';
comment on column raw_guardrail__checks.source is 'The room that asked: api, mcp';
comment on column raw_guardrail__checks.asked_severity is 'The impact that the caller claimed';
comment on column raw_guardrail__checks.severity is 'The highest severity of a rule that held, else none';
comment on column raw_guardrail__checks.passed is 'Whether the action may be taken';
comment on column raw_guardrail__checks.matched is 'Ids of the rules that held, most severe first';
comment on column raw_guardrail__checks.warned_stages is 'Stages that matched below what blocks';
comment on column raw_guardrail__checks.failed_stages is 'Stages that blocked';
comment on column raw_guardrail__checks.rules_checked is 'Rules that were looked at';
comment on column raw_guardrail__checks.ruleset_version is 'Version of the rules in force';
comment on column raw_guardrail__checks.latency_us is 'What the judging took, microseconds';

comment on column out_guardrail__daily.day is 'UTC day';
comment on column out_guardrail__daily.stage is 'A stage in which a rule held, or all';
comment on column out_guardrail__daily.checks is 'Checks of the day in which a rule of that stage held; all of them under all';
comment on column out_guardrail__daily.blocked is 'Those of them that the stage blocked; that did not pass, under all';
comment on column out_guardrail__daily.latency_p50_us is 'Median of what judging them took, microseconds';
comment on column out_guardrail__daily.latency_p99_us is '99th percentile of what judging them took, microseconds';
