-- Whose the capsules of :owner became is forgotten.
update world_capsules set claimed_by = :forgotten where claimed_by = :owner
