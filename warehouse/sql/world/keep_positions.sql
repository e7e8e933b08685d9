-- One row per node that is placed for the first time.
insert into out_world__positions
select unnest($ids::varchar[]), unnest($xs::double[]), unnest($ys::double[])
