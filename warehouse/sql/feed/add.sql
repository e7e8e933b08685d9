-- Add one event; times are UTC.
insert into core_feed__events
values ($id, $kind, $occurred_at, $block, $title, $text, $path, $facts, $recorded_at)
