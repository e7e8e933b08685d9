-- One row per table that holds, or has held, texts of people; in PostgreSQL alone, where tables are rewritten one by one.
select tablename as name
from pg_tables
where schemaname = current_schema()
    and (starts_with(tablename, 'world_') or starts_with(tablename, 'intake') or starts_with(tablename, 'connect_'))
order by tablename
