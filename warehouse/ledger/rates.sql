-- name: counters
counters

-- name: create
-- Unlogged: a crash of the server empties it.
create unlogged table
