-- At most one row: what the decision :seq was about, as JSON.
select payload from world_decision_payloads where seq = :seq
