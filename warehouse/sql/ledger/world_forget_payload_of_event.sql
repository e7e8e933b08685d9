-- What was decided when the event :seq was let in is forgotten with its salt.
delete from world_decision_payloads where seq = (select decision_seq from world_events where seq = :seq)
