-- One row per lane and runtime profile: how far registrations came.
insert into out_intake__funnel
select
    lane, profile_id, count(*), count(*) filter (current_state <> 'received'), count(*) filter (review_state = 'approved'),
    count(*) filter (activation_state in ('activated', 'suspended')), count(*) filter (activation_state = 'activated')
from raw_ledger__intakes
group by lane, profile_id
