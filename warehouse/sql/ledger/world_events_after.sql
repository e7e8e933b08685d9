-- One row per event of the graph above :seq, oldest first, at most :limit; body is the new state as JSON.
select seq, kind, body from world_events where seq > :seq order by seq limit :limit
