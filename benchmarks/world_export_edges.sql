-- One row per edge, for the other engines: the numbers of its ends.
copy (
    select substr(source, 6)::bigint as source, substr(target, 6)::bigint as target from out_world__edges
) to '$path' (format parquet)
