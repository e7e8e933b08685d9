-- One row per owner of live private state, in order of codes.
select owner from snapshot_owners order by code
