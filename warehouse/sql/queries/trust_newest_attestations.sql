-- One row per attestation with the scores after it, the newest ten first. Times are UTC.
select block, agent, number, score, weighted_score, average_score, attester, attested_at
from core_trust__history
order by block desc, log_index desc
limit 10
