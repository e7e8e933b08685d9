-- One row per key, newest first, with the requests of all its days and of :day (YYYY-MM-DD); times in UTC.
select
    k.key_id, k.family_id, k.hint, k.tier, k.owner, k.claim_id, k.state, k.paid_until, k.created_at, k.changed_at,
    k.first_used_at, max(u.last_used_at) as last_used_at, cast(coalesce(sum(u.requests), 0) as bigint) as requests,
    cast(coalesce(sum(case when u.day = :day then u.requests end), 0) as bigint) as requests_today
from api_keys as k
left join api_key_uses as u on u.key_id = k.key_id
group by
    k.key_id, k.family_id, k.hint, k.tier, k.owner, k.claim_id, k.state, k.paid_until, k.created_at, k.changed_at,
    k.first_used_at
order by k.created_at desc, k.key_id
