-- One row per proposal that waits for an operator, as JSON, and whose it is.
insert into world_pending (seq, owner, proposal, decided_seq) values (:seq, :owner, :proposal, null)
