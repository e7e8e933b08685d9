-- One row per decision that is not forgotten: what its commitment is of.
insert into world_decision_payloads (seq, owner, salt, payload) values (:seq, :owner, :salt, :payload)
