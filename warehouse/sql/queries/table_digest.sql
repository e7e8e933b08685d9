-- One row: how many rows $table holds, and a SHA-256 over them in an order of their own.
select
    count(*) as row_count,
    sha256(coalesce(string_agg(to_json(t)::varchar, chr(10) order by to_json(t)::varchar), '')) as rows_sha256
from $table as t
