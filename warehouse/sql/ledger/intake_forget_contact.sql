-- How the sender of an intake was reached and called is forgotten.
delete from intake_contacts where intake_id = :intake_id
