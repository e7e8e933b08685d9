-- One row per lane and runtime profile.
create table if not exists out_intake__funnel (
    lane varchar not null,  -- agent, human or enterprise
    profile_id varchar not null,  -- Runtime profile that was chosen
    registrations bigint not null,  -- Registrations, forgotten ones too
    provisioned bigint not null,  -- Those whose capsule was made
    approved bigint not null,  -- Those that an operator has approved
    paid bigint not null,  -- Those that a paid claim has named, whether its payment holds or not
    active bigint not null  -- Those of them whose payment holds
);
