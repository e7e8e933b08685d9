-- name: server_time (postgresql)
-- Seconds since 1970.
select cast(extract(epoch from clock_timestamp()) as double precision)
