-- At most one row: the newest snapshot read from a host. Times are UTC.
select observed_at, first_fetched_at, last_fetched_at, snapshot, sha256
from raw_partner__snapshots
where source = $source
order by last_fetched_at desc
limit 1
