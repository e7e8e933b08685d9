-- At most one row: the scores of $agent (lower-case hex). Times are UTC.
select attestation_count, weighted_score, average_score, last_attested_at
from out_trust__scores
where agent = $agent
