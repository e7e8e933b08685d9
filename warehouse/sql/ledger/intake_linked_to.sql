-- Ids of the intakes of the same identity that are linked to one.
select intake_id from intakes where linked_to = :intake_id order by intake_id
