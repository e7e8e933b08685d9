-- One row per node, for the other engines: its number, id, title, description and record.
copy (
    select
        right(id, 8)::bigint as num,
        id,
        body->>'$.title' as title,
        body->>'$.properties.description' as description,
        body
    from out_world__nodes
    where newest
    order by num
) to '$path' (format parquet)
