-- One row of facts about the partner's snapshot as it is served; 0 is right, or 1 row.
select
    count(*) as rows,
    count(*) filter (quality not in ('estimated', 'unavailable')) as better_than_estimated,
    count(*) filter (quality = 'estimated' and (snapshot is null or snapshot_sha256 is null or fetched_at is null))
        as estimated_without_snapshot,
    count(*) filter (quality = 'unavailable' and reason is null) as missing_without_reason,
    count(*) filter (stale and reason is null) as stale_without_reason
from out_partner__snapshot
