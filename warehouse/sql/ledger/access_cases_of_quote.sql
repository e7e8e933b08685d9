-- One row per case that is filed under a quote, oldest first.
select * from access_cases where quote_id = :quote_id order by recorded_at, case_id
