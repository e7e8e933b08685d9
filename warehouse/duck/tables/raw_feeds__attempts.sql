-- One row per question to a source within the last week, its second try included.
create table if not exists raw_feeds__attempts (
    source varchar not null,  -- Short name of the source
    asked_at timestamp not null,  -- When it answered or was given up, UTC
    latency_ms bigint not null,  -- Milliseconds until then, a second try included
    ok boolean not null,  -- Whether the answer was of use
    reason varchar,  -- Why it was not, as a stable code
    quality varchar,  -- How far its numbers can be trusted; null where that is not said
    ask_again_at timestamp  -- Not to be asked before this time, UTC; null where it did not ask for rest
);
