-- The feed room's table; each statement is idempotent. Times are UTC.

-- One row per event, the newest thousand: what happened at a block, told once.
create table if not exists core_feed__events (
    id varchar not null,
    kind varchar not null,
    occurred_at timestamp not null,
    block bigint not null,
    title varchar not null,
    text varchar not null,
    path varchar not null,
    facts json not null,
    recorded_at timestamp not null
);
