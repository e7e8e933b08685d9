-- Questions to other services; each statement is idempotent.

-- One row per question to a source within the last week, its second try included.
create table if not exists raw_feeds__attempts (
    source varchar not null,
    asked_at timestamp not null,
    latency_ms bigint not null,
    ok boolean not null,
    reason varchar,
    quality varchar,
    ask_again_at timestamp
);
