-- One row per decision that is not forgotten: what its commitment is of, whose it is, and which key asked for it.
insert into world_decision_payloads (seq, owner, salt, payload, key_id) values (:seq, :owner, :salt, :payload, :key_id)
