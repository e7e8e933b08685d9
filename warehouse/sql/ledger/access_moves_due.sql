-- One row per operator and payer whose keys were moved and whose graph was not yet looked at; key_id is one of those keys,
-- others how many other keys stood or stand for the operator.
select
    m.from_owner, m.to_owner, min(m.key_id) as key_id,
    (select count(*) from access_moved_keys o where o.from_owner = m.from_owner and o.to_owner <> m.to_owner)
    + (select count(*) from api_keys k where k.owner = m.from_owner) as others
from access_moved_keys m
where m.moved_at is null
group by m.from_owner, m.to_owner
order by m.from_owner, m.to_owner
