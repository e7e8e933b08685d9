-- One row per event that is kept: its time (UTC) and id.
select occurred_at, id from core_feed__events
