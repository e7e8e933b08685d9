-- One row: folded revision, nodes, states above the revision $held, and whether any of these forgets what was there.
select
    coalesce((select max(revision) from core_world__state), 0) as revision,
    (select count(*) from out_world__nodes where newest) as nodes,
    (select count(*) from core_world__nodes where revision > $held)
    + (select count(*) from core_world__edges where revision > $held) as later,
    exists (select 1 from core_world__nodes where revision > $held and (erased or actor = 'forgotten'))
    or exists (select 1 from core_world__edges where revision > $held and actor = 'forgotten') as forgets
