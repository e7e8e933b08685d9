-- The steps of an intake are forgotten.
delete from intake_steps where intake_id = :intake_id
