-- The case with an id.
select * from access_cases where case_id = :case_id
