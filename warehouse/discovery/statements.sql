-- name: discovery_probes
-- One row per probed capability: its status and reason, who determined it by what evidence, and when (UTC).
select capability, status, reason, determined_by, evidence, checked_at from out_discovery__probes order by capability

-- name: drop_probes
-- Deletes capabilities that the registry no longer contains.
delete from out_discovery__probes where capability not in (select unnest($known::varchar[]))
