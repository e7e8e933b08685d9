-- One row per proposal that waits for an operator, as JSON.
insert into world_pending (seq, proposal, decided_seq) values (:seq, :proposal, null)
