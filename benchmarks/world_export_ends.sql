-- One row per edge, for an engine that loads edges by the ids of their ends.
copy (select source, target from out_world__edges where newest) to '$path' (format parquet)
