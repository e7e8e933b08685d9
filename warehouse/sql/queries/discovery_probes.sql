-- One row per capability that was looked at: how it stands, why, who determined it by what, and when (UTC).
select capability, status, reason, determined_by, evidence, checked_at from out_discovery__probes order by capability
