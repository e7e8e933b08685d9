-- One row per UTC day of receipt and lane.
create table if not exists out_intake__stats (
    day date not null,  -- UTC day of receipt
    lane varchar not null,  -- agent, human or enterprise
    registrations bigint not null,  -- Registrations of that day, forgotten ones too
    distinct_identities bigint not null,  -- Registrations whose sender had not registered in this lane before
    forgotten bigint not null  -- Registrations whose sender asked to be forgotten
);

-- rows: Registrations, those of new identities, forgotten ones.
select
    day, lane, count(*) as registrations, count(*) filter (not repeats) as distinct_identities,
    count(*) filter (forgotten) as forgotten
from raw_ledger__intakes
group by day, lane

-- checks (warning) intakes_are_counted_once: Every intake is counted once, by day and by funnel alike, and no step
-- has more than the one before it.
select
    (select count(*) from raw_ledger__intakes)
    - (select coalesce(sum(registrations), 0)::bigint from out_intake__stats) as intakes_missing_by_day,
    (select count(*) from raw_ledger__intakes)
    - (select coalesce(sum(registrations), 0)::bigint from out_intake__funnel) as intakes_missing_in_funnel,
    (select count(*) from out_intake__funnel where active > paid or provisioned > registrations or paid > registrations)
    + (select count(*) from out_intake__stats where greatest(distinct_identities, forgotten) > registrations)
        as steps_out_of_order,
    (
        select count(*) from raw_ledger__intakes
        where (activation_state = 'activated') and current_state <> 'active'
        or lane not in ('agent', 'human', 'enterprise')
    ) as states_unknown
