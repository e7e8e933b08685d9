-- One row per UTC day of opening: sessions, and how far they came.
insert into out_connect__daily
select
    day, count(*), count(*) filter (assistant is not null), count(*) filter (registered), count(*) filter (finished),
    count(*) filter (closed)
from raw_ledger__connect_sessions
group by day
