-- One row per key: how many were taken in the fixed window that ends at window_end_s (seconds since 1970).
-- Unlogged: a crash of the server empties it. Half-filled pages let an update stay on its page, without touching the index.
create unlogged table if not exists counters (
    key text collate "C" not null primary key,
    window_end_s bigint not null,
    used bigint not null
) with (fillfactor = 50)
