-- One row: live public edges whose both ends are live public nodes.
select count(*) as edges
from world_edges
join world_nodes as sources
    on sources.id = world_edges.source and sources.visibility = 'public' and sources.live = 1
join world_nodes as targets
    on targets.id = world_edges.target and targets.visibility = 'public' and targets.live = 1
where world_edges.visibility = 'public' and world_edges.live = 1
