-- name: forget_steps
-- Deletes the steps of sessions whose new steps are about to be stored; $rows is a JSON array of the new steps.
delete from raw_ledger__connect_steps
where session_key in (select unnest(from_json($rows::json, '[{"session_key": "varchar"}]')).session_key)

-- name: preview_out_connect__steps
-- One row per assistant and step in the order of the plan, for display.
select assistant, step_id, sessions, reached, done, skipped, failed, failures
from out_connect__steps
order by assistant, position, step_id

-- name: put_steps
-- Inserts the current steps of sessions; $rows is a JSON array of them.
insert into raw_ledger__connect_steps
select r.session_key, r.position, r.step_id, r.state, r.failures
from (
    select unnest(from_json($rows::json, '[{
        "session_key": "varchar", "position": "integer", "step_id": "varchar", "state": "varchar", "failures": "integer"
    }]')) as r
)
