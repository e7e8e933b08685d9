-- One row per agent: what the registry keeps of it. Times as Unix seconds.
select agent, attestation_count, epoch(last_attested_at)::bigint, score_sum, weight_sum, weighted_sum
from core_trust__scores
where list_contains($agents, agent)
