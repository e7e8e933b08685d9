-- What each column of connect means; applied to an empty copy of the schema.
comment on column raw_ledger__connect_sessions.session_key is 'What names the session outside the ledger; its id can''t be worked out from it';
comment on column raw_ledger__connect_sessions.day is 'UTC day on which it was opened';
comment on column raw_ledger__connect_sessions.assistant is 'codex, claude-code, gemini, grok or custom; null before a plan was asked for';
comment on column raw_ledger__connect_sessions.os is 'macos, linux or windows; null before a plan was asked for';
comment on column raw_ledger__connect_sessions.runtime_profile is 'Runtime profile; null before a plan was asked for';
comment on column raw_ledger__connect_sessions.steps is 'Steps of its plan';
comment on column raw_ledger__connect_sessions.done is 'Steps that are done';
comment on column raw_ledger__connect_sessions.skipped is 'Steps that were skipped';
comment on column raw_ledger__connect_sessions.failed is 'Steps that failed and were not mended';
comment on column raw_ledger__connect_sessions.finished is 'Whether every step is done or skipped';
comment on column raw_ledger__connect_sessions.registered is 'Whether it named an intake';
comment on column raw_ledger__connect_sessions.closed is 'Whether it was closed before its time';
comment on column raw_ledger__connect_sessions.forgotten is 'Whether its person asked to be forgotten';

comment on column raw_ledger__connect_steps.session_key is 'The session';
comment on column raw_ledger__connect_steps.position is 'Place in the plan, from 1';
comment on column raw_ledger__connect_steps.step_id is 'Id of the step in the plan';
comment on column raw_ledger__connect_steps.state is 'pending, active, done, failed, skipped or rolled_back';
comment on column raw_ledger__connect_steps.failures is 'How often it was reported to have failed';

comment on column core_connect__state.only_row is 'Always true';
comment on column core_connect__state.seq is 'The ledger''s seq up to which sessions are taken over';

comment on column out_connect__daily.day is 'UTC day on which the sessions were opened';
comment on column out_connect__daily.sessions is 'Sessions that were opened';
comment on column out_connect__daily.planned is 'Those that asked for a plan';
comment on column out_connect__daily.registered is 'Those that named an intake';
comment on column out_connect__daily.finished is 'Those whose every step is done or skipped';
comment on column out_connect__daily.closed is 'Those that were closed before their time';

comment on column out_connect__steps.assistant is 'codex, claude-code, gemini, grok or custom';
comment on column out_connect__steps.step_id is 'Id of the step in the plan';
comment on column out_connect__steps.position is 'Lowest place that it has in a plan, from 1';
comment on column out_connect__steps.sessions is 'Sessions with such a step';
comment on column out_connect__steps.reached is 'Those that came to it';
comment on column out_connect__steps.done is 'Those that have done it';
comment on column out_connect__steps.skipped is 'Those that skipped it';
comment on column out_connect__steps.failed is 'Those in which it failed and was not mended';
comment on column out_connect__steps.failures is 'Failures that were reported, mended ones too';
