-- One row: questions at the newest block that was checked, answers, equal ones, and why answers are missing.
select
    max(block) as block,
    count(theirs_meets) as checked,
    count(*) filter (where theirs_meets = ours_meets and theirs_score = ours_score) as equal,
    min(reason) as reason
from core_trust__checks
where block = (select max(block) from core_trust__checks)
