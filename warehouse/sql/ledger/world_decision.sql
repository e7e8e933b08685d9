-- At most one row: the verdict of the decision :seq.
select verdict from world_decisions where seq = :seq
