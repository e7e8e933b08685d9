-- One row per node, for the other engines: its number, id, title, properties' words and record.
copy (
    select
        (revision - 1)::bigint as num,
        id,
        body->>'$.title' as title,
        body->>'$.properties.description' as description,
        body
    from out_world__nodes
    order by revision
) to '$path' (format parquet)
