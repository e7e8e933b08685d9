-- The proposal :seq waits no longer.
update world_pending set decided_seq = :decided_seq where seq = :seq and decided_seq is null
