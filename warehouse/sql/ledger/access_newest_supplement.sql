-- The newest quote that a case offered.
select s.quote_id
from access_supplements s
join access_quotes q on q.quote_id = s.quote_id
where s.case_id = :case_id
order by q.expires_at desc, s.quote_id
limit 1
