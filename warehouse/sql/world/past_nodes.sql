-- One row per node of these ids: its record as JSON.
select id, body from nodes_then where id in (select unnest($ids::varchar[]))
