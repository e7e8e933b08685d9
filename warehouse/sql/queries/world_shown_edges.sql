-- One row per live public edge between two of the nodes $ids, by its ends.
select source, target, body->>'$.type' as type
from out_world__edges
where newest and live and body->>'$.visibility' = 'public'
    and source in (select unnest($ids::varchar[])) and target in (select unnest($ids::varchar[]))
order by source, target, type
