-- One row per UTC day of the newest days with sessions, for showing.
select day::varchar as day, sessions, planned, registered, finished, closed
from out_connect__daily
order by out_connect__daily.day desc
limit 20
