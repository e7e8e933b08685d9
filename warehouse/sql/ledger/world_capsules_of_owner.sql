-- One row per capsule that :owner claimed.
select id from world_capsules where claimed_by = :owner
