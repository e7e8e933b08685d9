-- One row per capability that was looked at.
create table if not exists out_discovery__probes (
    capability varchar primary key,  -- Its id in the capability registry
    status varchar not null,  -- live, planned or off
    reason varchar,  -- Why it is not live, or how it is impaired, as a stable code
    determined_by varchar not null,  -- http: asked at its public address; warehouse: its data was read; settings: they
    -- alone
    evidence varchar not null,  -- What was looked at
    checked_at timestamp not null  -- When it was first found to stand so, said anew hourly (UTC)
);

-- checks (warning): A capability is live, planned or off; what is not live says why; nothing that was only planned was
-- found to be live.
select
    count(*) filter (status not in ('live', 'planned', 'off')) as unknown_statuses,
    count(*) filter (determined_by not in ('settings', 'warehouse', 'http')) as unknown_ways,
    count(*) filter (status <> 'live' and reason is null) as not_live_without_reason,
    count(*) filter (status = 'planned' and determined_by <> 'settings') as planned_by_others_than_settings,
    count(*) filter (checked_at > timezone('UTC', now()) + interval 5 minute) as times_in_the_future
from out_discovery__probes
