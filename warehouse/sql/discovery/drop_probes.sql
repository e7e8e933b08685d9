-- Forget capabilities that the registry no longer has.
delete from out_discovery__probes where capability not in (select unnest($known::varchar[]))
