-- One row per key: how many were taken in the fixed window that ends at window_end_s (seconds since 1970).
create table if not exists counters (
    key text not null primary key,
    window_end_s bigint not null,
    used bigint not null
) without rowid
