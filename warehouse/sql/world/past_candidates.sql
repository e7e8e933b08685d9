-- One row per node whose record holds the letters of one of the words.
select id, body from nodes_then, (select unnest($words::varchar[]) as word)
where contains(lower(body), word)
group by id, body
