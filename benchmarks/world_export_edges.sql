-- One row per edge, for the other engines: the numbers of its ends.
copy (
    select right(source, 8)::bigint as source, right(target, 8)::bigint as target from out_world__edges where newest
) to '$path' (format parquet)
