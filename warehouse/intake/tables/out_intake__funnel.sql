-- One row per lane and runtime profile.
create table if not exists out_intake__funnel (
    lane varchar not null,  -- agent, human or enterprise
    profile_id varchar not null,  -- Runtime profile that was chosen
    registrations bigint not null,  -- Registrations, forgotten ones too
    provisioned bigint not null,  -- Intakes with a capsule
    approved bigint not null,  -- Intakes that an operator has approved
    paid bigint not null,  -- Intakes that a paid claim has named, also after its payment was reversed
    active bigint not null  -- Intakes among them whose payment holds
);

-- rows: Registrations, and how far they got.
select
    lane, profile_id, count(*) as registrations, count(*) filter (current_state <> 'received') as provisioned,
    count(*) filter (review_state = 'approved') as approved,
    count(*) filter (activation_state in ('activated', 'suspended')) as paid,
    count(*) filter (activation_state = 'activated') as active
from raw_ledger__intakes
group by lane, profile_id
