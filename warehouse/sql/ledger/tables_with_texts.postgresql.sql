-- One row per table that holds, or has held, texts of people; in PostgreSQL alone, where tables are rewritten one by one.
select tablename as name
from pg_tables
where schemaname = current_schema()
    and (
        tablename like 'world\_%' or tablename like 'intake%' or tablename like 'connect\_%'
        or tablename = 'guardrail_checks'
    )
order by tablename
