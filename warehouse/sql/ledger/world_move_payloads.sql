-- What was decided of :from_owner is :to_owner's.
update world_decision_payloads set owner = :to_owner where owner = :from_owner
