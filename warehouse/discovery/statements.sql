-- name: discovery_probes
-- One row per capability that was looked at: how it stands, why, who determined it by what, and when (UTC).
select capability, status, reason, determined_by, evidence, checked_at from out_discovery__probes order by capability

-- name: drop_probes
-- Forget capabilities that the registry no longer has.
delete from out_discovery__probes where capability not in (select unnest($known::varchar[]))
