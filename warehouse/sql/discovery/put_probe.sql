-- What was found of one capability. Time UTC.
insert or replace into out_discovery__probes
values ($capability, $status, $reason, $determined_by, $evidence, $checked_at)
