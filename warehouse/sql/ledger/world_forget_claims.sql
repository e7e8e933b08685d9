-- Whose the capsules of :owner became is forgotten, and a capsule that is its own owner waits for nobody any more.
update world_capsules set claimed_by = :forgotten where claimed_by = :owner or 'capsule:' || id = :owner
