-- name: facts_out_discovery__probes
-- One row of facts about what was found of the capabilities; 0 is right everywhere.
select
    count(*) filter (status not in ('live', 'planned', 'off')) as unknown_statuses,
    count(*) filter (determined_by not in ('settings', 'warehouse', 'http')) as unknown_ways,
    count(*) filter (status <> 'live' and reason is null) as not_live_without_reason,
    count(*) filter (status = 'planned' and determined_by <> 'settings') as planned_by_others_than_settings,
    count(*) filter (checked_at > timezone('UTC', now()) + interval 5 minute) as checked_in_the_future
from out_discovery__probes
