-- Who is linked to an intake is forgotten.
update intakes set linked_to = null where linked_to = :intake_id
