-- name: columns
-- One row per column of the schema, in the order of its table, with DuckDB's type.
select table_name, column_name, data_type
from duckdb_columns()
where not internal
order by table_name, column_index

-- name: empty_synced_tables
-- One row per table that is synced from the ledger, or records how far a sync has come: the statement that empties it.
select 'delete from ' || table_name
from duckdb_tables()
where starts_with(table_name, 'raw_ledger__')
    or table_name in ('core_access__state', 'core_connect__state', 'core_intake__state')

-- name: last_attempt
-- One row: the last request to a source, and the time until which it demanded a pause; times are UTC, null if none.
select max(asked_at) as asked_at, max(ask_again_at) as ask_again_at
from raw_feeds__attempts
where source = $source

-- name: last_rows
-- At most 20 rows of $table as texts, for display: the last ones in the order of its columns, so the newest if by day.
select columns(*)::varchar from (select * from $table order by all desc limit 20)

-- name: schema_applied
-- One row: the SHA-256 of the schema that was applied last.
select schema_sha256 from schema_applied

-- name: source_health
-- One row per source: its newest attempt, its last usable answer, and the number of failed attempts of the last week.
select
    source,
    max(asked_at) as last_asked_at,
    arg_max(latency_ms, asked_at) as latency_ms,
    arg_max_null(reason, asked_at) as reason,
    arg_max_null(quality, asked_at) as quality,
    arg_max_null(ask_again_at, asked_at) as ask_again_at,
    max(asked_at) filter (where ok) as succeeded_at,
    count(*) as attempts,
    count(*) filter (where not ok) as failures
from raw_feeds__attempts
group by source
order by source

-- name: table_digest
-- One row: the number of rows in $table, and a SHA-256 over them in the order of their JSON.
select
    count(*) as row_count,
    sha256(coalesce(string_agg(to_json(t)::varchar, chr(10) order by to_json(t)::varchar), '')) as rows_sha256
from $table as t

-- name: check_results
-- One row per fact of each table's latest judgement.
select table_name, check_name, blocking, fact, value, minimum, maximum, passed, judged_by, judged_at
from out_checks__results order by table_name, fact;

-- name: check_columns
-- One row per column of a checked table: its statistics.
select table_name, column_name, rows, nulls, distinct_about, least, greatest, deciles
from out_checks__columns order by table_name, column_name;

-- name: warehouse_columns
-- One row per column of the database in use: its table and its name.
select table_name, column_name
from duckdb_columns()
where database_name = current_database() and not internal
