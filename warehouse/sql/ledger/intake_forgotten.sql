-- The intake with an id, where it is forgotten.
select intake_id from intakes where intake_id = :intake_id and forgotten_at is not null
