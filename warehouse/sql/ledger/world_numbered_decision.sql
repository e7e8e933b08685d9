-- At most one row: the link of the decision that has :number in the chain.
select link from world_decisions where number = :number
