-- One row per assistant and step in the order of the plan, for showing.
select assistant, step_id, sessions, reached, done, skipped, failed, failures
from out_connect__steps
order by assistant, position, step_id
