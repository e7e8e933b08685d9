-- Puts intakes as they are now in place of what was held of them; $rows is a JSON array of them.
insert or replace into raw_ledger__intakes
select
    r.graph_key, r.lane, r.profile_id, r.day, r.current_state, r.review_state, r.activation_state, r.repeats = 1,
    r.forgotten = 1
from (
    select unnest(from_json($rows::json, '[{
        "graph_key": "varchar", "lane": "varchar", "profile_id": "varchar", "day": "date", "current_state": "varchar",
        "review_state": "varchar", "activation_state": "varchar", "repeats": "integer", "forgotten": "integer"
    }]')) as r
)
