-- One row per domain of `$domains`: live public nodes, and live public edges from them, at the folded revision.
insert into out_world__counts
with nodes as (
    select id, domain from core_world__nodes where retired_revision is null and live and visibility = 'public'
),
edges as (
    select sources.domain
    from core_world__edges as edges
    join nodes as sources on sources.id = edges.source
    join nodes as targets on targets.id = edges.target
    where edges.retired_revision is null and edges.live and edges.visibility = 'public'
)
select
    names.domain,
    (select count(*) from nodes where nodes.domain = names.domain),
    (select count(*) from edges where edges.domain = names.domain),
    $revision
from (select unnest($domains::varchar[]) as domain) as names
order by names.domain
