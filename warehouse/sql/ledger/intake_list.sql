-- The newest intakes that are not forgotten, without contact and person.
select intake_id, lane, profile_id, source, received_at, current_state, review_state, activation_state, linked_to
from intakes
where forgotten_at is null
order by received_at desc, intake_id
limit :most
