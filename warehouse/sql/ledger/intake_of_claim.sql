-- Ids of the intakes that a claim activated.
select intake_id from intakes where claim_id = :claim_id and forgotten_at is null order by intake_id
