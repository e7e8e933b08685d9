-- At most one row: when a source was last asked (UTC), and why that was of no use; null where it was of use.
select asked_at, reason from raw_feeds__attempts where source = $source order by asked_at desc limit 1
