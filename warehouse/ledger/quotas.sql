-- name: counters
quotas

-- name: create
create table
