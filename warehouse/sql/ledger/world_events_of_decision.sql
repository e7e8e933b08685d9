-- One row per event that the decision :decision_seq let in, oldest first; body is the new state as JSON.
select seq, kind, body from world_events where decision_seq = :decision_seq order by seq
