-- name: give_back
-- Subtracts one take from the window that is still open at :now_s.
update {counters} set used = used - 1 where key = :key and used > 0 and window_end_s > :now_s

-- name: schema
-- One row per key: how many were taken in the fixed window that ends at window_end_s (seconds since 1970).
create table if not exists {counters} (
    key text not null primary key,
    window_end_s bigint not null,
    used bigint not null
) without rowid

-- name: schema (postgresql)
-- One row per key: how many were taken in the fixed window that ends at window_end_s (seconds since 1970).
-- Half-filled pages let an update stay on its page, without touching the index.
{create} if not exists {counters} (
    key text collate "C" not null primary key,
    window_end_s bigint not null,
    used bigint not null
) with (fillfactor = 50)

-- name: slice_end
-- At most one row: the last key of the slice of :size keys after :after; none if fewer are left.
select key from {counters} where key > :after order by key limit 1 offset :size - 1

-- name: sweep
-- Deletes the counters of a slice of keys, (:after, :until], whose window ended before :ended_s.
delete from {counters} where key > :after and key <= :until and window_end_s < :ended_s

-- name: sweep (postgresql)
-- Deletes the counters of a slice of keys, (:after, :until], whose window ended before :ended_s, except those that
-- another process is writing or sweeping: waiting for them could deadlock.
delete from {counters} where key in (
    select key from {counters} where key > :after and key <= :until and window_end_s < :ended_s for update skip locked
)

-- name: taken
-- At most one row: the number of takes in the window of a key, and the window's end.
select used, window_end_s from {counters} where key = :key

-- name: take
-- Takes one of :limit in the window ending at :window_end_s. If all are taken, returns no row and writes nothing.
-- A caller whose clock is at most one window late counts in the newer window, so that window's limit holds.
insert into {counters} as counted (key, window_end_s, used) values (:key, :window_end_s, 1)
on conflict (key) do update set
    used = case
        when counted.window_end_s between excluded.window_end_s and excluded.window_end_s + :window_s
            then counted.used + 1
        else 1
    end,
    window_end_s = case
        when counted.window_end_s between excluded.window_end_s and excluded.window_end_s + :window_s
            then counted.window_end_s
        else excluded.window_end_s
    end
where counted.used < :limit
    or counted.window_end_s not between excluded.window_end_s and excluded.window_end_s + :window_s
returning used, window_end_s
