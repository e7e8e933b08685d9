-- One row per intake that changed above a seq, as it is now, without anything that says whose it is.
select
    graph_key, lane, profile_id, substr(received_at, 1, 10) as day, current_state, review_state, activation_state,
    repeats, case when forgotten_at is null then 0 else 1 end as forgotten
from intakes
where intake_id in (select entity_id from ledger_changes where seq > :seq and kind = 'intake')
