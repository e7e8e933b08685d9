-- One row per live public node, those with the most public edges first, at most $limit. x and y are null until placed.
with nodes as (
    select id, type, domain, body from out_world__nodes where newest and live and body->>'$.visibility' = 'public'
),
edges as (
    select source, target
    from out_world__edges
    where newest and live and body->>'$.visibility' = 'public'
        and source in (select id from nodes) and target in (select id from nodes)
),
weights as (
    select id, count(*) as weight from (select source as id from edges union all select target from edges) group by id
)
select nodes.id, nodes.body->>'$.title' as title, nodes.type, nodes.domain, coalesce(weight, 0) as weight, x, y
from nodes
left join weights on weights.id = nodes.id
left join out_world__positions as positions on positions.id = nodes.id
order by coalesce(weight, 0) desc, nodes.id
limit $limit
