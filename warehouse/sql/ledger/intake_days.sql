-- One row per UTC day since :since and lane: registrations.
select substr(received_at, 1, 10) as day, lane, count(*) as registrations
from intakes
where received_at >= :since
group by substr(received_at, 1, 10), lane
order by day desc, lane
