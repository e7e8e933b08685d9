-- Which claim activated an intake, and who paid.
update intakes set claim_id = :claim_id, payer = :payer where intake_id = :intake_id
