-- One row per step of an intake, in order.
select position, name, taken_at, taken_by from intake_steps where intake_id = :intake_id order by position
