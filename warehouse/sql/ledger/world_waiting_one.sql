-- At most one row: the proposal :seq, where it waits for an operator.
select proposal from world_pending where seq = :seq and decided_seq is null
