-- One row per event of one node or edge, oldest first; body is the state as JSON.
select seq, kind, body from world_events where kind = :kind and entity_id = :entity_id order by seq
