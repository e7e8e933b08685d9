-- One row per edge between two of these nodes, by source, target and id: its record as JSON.
select body from edges_then
where source in (select unnest($ids::varchar[])) and target in (select unnest($ids::varchar[]))
order by source, target, id
limit $limit
