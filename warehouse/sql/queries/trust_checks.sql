-- One row per question at the newest block that was checked: what we say, and what the contract says.
select block, agent, min_score, ours_score, theirs_score, ours_meets, theirs_meets, reason
from core_trust__checks
where block = (select max(block) from core_trust__checks)
order by agent, min_score
