-- The event :seq holds a tombstone from now on.
update world_events set body = :body, actor = :actor, source = :source where seq = :seq
