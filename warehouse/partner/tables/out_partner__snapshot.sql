-- At most one row: the partner's snapshot as served. None where no partner is configured.
create table if not exists out_partner__snapshot (
    source varchar not null,  -- Host of the partner
    quality varchar not null,  -- estimated, or unavailable where it never answered
    reason varchar,  -- Reason why the newest request failed, as a stable code
    stale boolean not null,  -- True if the newest request failed, and this is an earlier answer
    observed_at timestamp,  -- The partner's own time, UTC
    fetched_at timestamp,  -- Time at which the snapshot was last read, UTC
    age_s bigint,  -- Seconds from then to our newest request
    snapshot json,  -- The object as the partner gave it
    snapshot_sha256 varchar,  -- SHA-256 of the object, keys sorted, without spaces
    unchanged_since timestamp  -- Time at which these bytes were first read, UTC
);

-- checks (blocking) served_snapshot_is_sound: The served snapshot is at most one row, never better than estimated,
-- with a snapshot and its digest, or a reason.
select
    greatest(count(*) - 1, 0) as rows_beyond_the_first,
    count(*) filter (quality not in ('estimated', 'unavailable')) as better_than_estimated,
    count(*) filter (quality = 'estimated' and (snapshot is null or snapshot_sha256 is null or fetched_at is null))
        as estimated_without_snapshot,
    count(*) filter (quality = 'unavailable' and reason is null) as missing_without_reason,
    count(*) filter (stale and reason is null) as stale_without_reason
from out_partner__snapshot
