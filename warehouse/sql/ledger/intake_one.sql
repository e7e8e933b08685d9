-- The intake with an id, with names of its sender; none where it is forgotten.
select i.*, c.person_json
from intakes i
join intake_contacts c on c.intake_id = i.intake_id
where i.intake_id = :intake_id and i.forgotten_at is null
