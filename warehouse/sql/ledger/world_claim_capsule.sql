-- The capsule :id becomes that of :owner, where it is nobody's yet.
update world_capsules set claimed_by = :owner where id = :id and claimed_by is null
