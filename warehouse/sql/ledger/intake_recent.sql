-- The newest intakes without anything that says whose they are; in an order that does not say when within a day.
select lane, substr(received_at, 1, 10) as day, profile_id, current_state
from (
    select lane, received_at, profile_id, current_state, intake_id
    from intakes where forgotten_at is null
    order by received_at desc, intake_id
    limit :most
) newest
order by day desc, lane, profile_id, current_state
