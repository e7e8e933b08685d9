-- name: facts_core_feed__events
-- One row of facts about the events that are kept; 0 is right, and a thousand events at most.
select
    count(*) as events,
    count(*) - count(distinct id) as doubled_ids,
    count(*) filter (kind not in ('snapshot', 'large_mover', 'holder_milestone', 'threshold_crossed', 'attestation'))
        as unknown_kinds,
    count(*) filter (title = '' or text = '') as without_text
from core_feed__events
