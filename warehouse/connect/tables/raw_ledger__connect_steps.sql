-- One row per session and step of its plan.
create table if not exists raw_ledger__connect_steps (
    session_key varchar not null,  -- The session
    position integer not null,  -- Place in the plan, from 1
    step_id varchar not null,  -- Id of the step in the plan
    state varchar not null,  -- pending, active, done, failed, skipped or rolled_back
    failures integer not null  -- Reports that it failed
);
