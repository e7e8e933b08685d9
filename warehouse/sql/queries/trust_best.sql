-- One row per agent, the ten best first. Times are UTC.
select agent, weighted_score, average_score, attestation_count, last_attested_at
from core_trust__scores
order by weighted_score desc, agent
limit 10
