-- name: facts_out_intake__stats
-- One row of facts about statistics and funnel against the intakes that they count; 0 is right everywhere.
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
