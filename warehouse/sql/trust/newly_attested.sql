-- One row per agent that was attested above the newest block at which the contract was asked.
select distinct agent
from core_trust__history
where block > coalesce((select max(block) from core_trust__checks), -1)
