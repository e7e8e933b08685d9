-- One row per event at a block, the newest thousand.
create table if not exists core_feed__events (
    id varchar not null,  -- Stable: an event that is derived again has the same id
    kind varchar not null,  -- snapshot, large_mover, holder_milestone, threshold_crossed or attestation
    occurred_at timestamp not null,  -- Time of the event's block, UTC
    block bigint not null,  -- The event's block
    title varchar not null,  -- The event in a line
    text varchar not null,  -- The event in a sentence
    path varchar not null,  -- Path of this service with the details
    facts json not null,  -- Its numbers and addresses, as JSON
    recorded_at timestamp not null  -- Time at which a run found it, UTC
);

-- checks (blocking) events_differ: Events have different ids, a known kind and a text, and are at most a thousand.
select
    greatest(count(*) - 1000, 0) as events_beyond_a_thousand,
    count(*) - count(distinct id) as doubled_ids,
    count(*) filter (kind not in ('snapshot', 'large_mover', 'holder_milestone', 'threshold_crossed', 'attestation'))
        as unknown_kinds,
    count(*) filter (title = '' or text = '') as without_text
from core_feed__events
