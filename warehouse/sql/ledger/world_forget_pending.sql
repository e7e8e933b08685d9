-- Proposals of :owner, which wait or waited for an operator, are forgotten.
delete from world_pending where owner = :owner
