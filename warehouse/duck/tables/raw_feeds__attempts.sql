-- One row per request to a source within the last week; a retry belongs to its request.
create table if not exists raw_feeds__attempts (
    source varchar not null,  -- Short name of the source
    asked_at timestamp not null,  -- Time of the answer or of giving up, UTC
    latency_ms bigint not null,  -- Milliseconds until then, including a retry
    ok boolean not null,  -- True if the answer was usable
    reason varchar,  -- Reason why it was not, as a stable code
    quality varchar,  -- Quality of its numbers; null where the attempt has none
    ask_again_at timestamp  -- Earliest time of the next request, UTC; null where the source set none
);
