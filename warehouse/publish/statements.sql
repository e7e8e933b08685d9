-- name: published_tables
-- One row per table of the warehouse that generations carry a copy of.
select table_name
from duckdb_tables()
where database_name = current_database() and table_name like 'out\_%' escape '\'
order by table_name
