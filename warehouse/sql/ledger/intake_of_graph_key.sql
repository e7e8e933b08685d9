-- The intake that a key of the graph names, as it is now; none where it is forgotten.
select lane, profile_id, substr(received_at, 1, 10) as day, current_state
from intakes
where graph_key = :graph_key and forgotten_at is null
