-- Puts the steps of sessions as they are now; $rows is a JSON array of them.
insert into raw_ledger__connect_steps
select r.session_key, r.position, r.step_id, r.state, r.failures
from (
    select unnest(from_json($rows::json, '[{
        "session_key": "varchar", "position": "integer", "step_id": "varchar", "state": "varchar", "failures": "integer"
    }]')) as r
)
