-- One row per event to be shown, newest first; times are UTC, facts is JSON.
select id, kind, occurred_at, block, title, text, path, facts::varchar as facts
from core_feed__events
order by occurred_at desc, id desc
limit $shown
