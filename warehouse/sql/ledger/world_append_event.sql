-- One row per accepted change of a node or an edge; recorded_at in UTC.
insert into world_events (seq, kind, entity_id, decision_seq, actor, source, recorded_at, body)
values (:seq, :kind, :entity_id, :decision_seq, :actor, :source, :recorded_at, :body)
