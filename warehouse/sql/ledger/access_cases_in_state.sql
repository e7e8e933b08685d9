-- One row per case in a state, newest first.
select * from access_cases where state = :state order by recorded_at desc, case_id
