-- One row: when a source was last asked, and until when it asked for rest; times are UTC, null where there is none.
select max(asked_at) as asked_at, max(ask_again_at) as ask_again_at
from raw_feeds__attempts
where source = $source
