-- The next step of an intake.
insert into intake_steps (intake_id, position, name, taken_at, taken_by)
select :intake_id, 1 + coalesce(max(position), 0), :name, :taken_at, :taken_by
from intake_steps where intake_id = :intake_id
