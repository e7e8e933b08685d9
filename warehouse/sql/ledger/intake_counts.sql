-- One row per lane that has registrations: all, those of new identities, approved ones, active ones.
select
    lane,
    count(*) as registrations,
    count(*) - sum(repeats) as distinct_count,
    sum(case when review_state = 'approved' then 1 else 0 end) as approved,
    sum(case when activation_state = 'activated' then 1 else 0 end) as active
from intakes
group by lane
