-- One row per column of the schema, in the order of its table: DuckDB's type, and what is said of it.
select table_name, column_name, data_type, comment
from duckdb_columns()
where not internal
order by table_name, column_index
