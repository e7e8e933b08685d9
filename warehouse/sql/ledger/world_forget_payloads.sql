-- What was decided of :owner is forgotten with its salts.
delete from world_decision_payloads where owner = :owner
