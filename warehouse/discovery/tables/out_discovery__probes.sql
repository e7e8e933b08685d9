-- One row per capability that was probed.
create table if not exists out_discovery__probes (
    capability varchar primary key,  -- Its id in the capability registry
    status varchar not null,  -- live, planned or off
    reason varchar,  -- Reason why it is impaired or not live, as a stable code
    determined_by varchar not null,  -- http: a request to its public address; warehouse: its data; settings: only the
    -- settings
    evidence varchar not null,  -- Evidence: the request, table or setting that decided it
    checked_at timestamp not null  -- Time at which this finding was made, renewed hourly, UTC
);

-- checks (warning) findings_have_status_and_reason: A capability is live, planned or off; one that is not live has a
-- reason; only settings plan a capability, and no finding is in the future.
select
    count(*) filter (status not in ('live', 'planned', 'off')) as unknown_statuses,
    count(*) filter (determined_by not in ('settings', 'warehouse', 'http')) as unknown_ways,
    count(*) filter (status <> 'live' and reason is null) as not_live_without_reason,
    count(*) filter (status = 'planned' and determined_by <> 'settings') as planned_by_others_than_settings,
    count(*) filter (checked_at > timezone('UTC', now()) + interval 5 minute) as times_in_the_future
from out_discovery__probes
