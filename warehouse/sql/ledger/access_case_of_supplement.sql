-- The case that offered a quote, where one did.
select c.* from access_supplements s join access_cases c on c.case_id = s.case_id where s.quote_id = :quote_id
