-- Takes out the steps of sessions of which others come; $rows is a JSON array of the steps that come.
delete from raw_ledger__connect_steps
where session_key in (select unnest(from_json($rows::json, '[{"session_key": "varchar"}]')).session_key)
