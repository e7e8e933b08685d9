-- One row per live edge between known nodes, in no order. source and target are numbers of nodes; owner is 0 for public,
-- else the owner's code.
select sources.num as source, targets.num as target, coalesce(code, 0)::uinteger as owner, edges.body
from snapshot_input_edges as edges
join snapshot_nodes as sources on sources.id = edges.source
join snapshot_nodes as targets on targets.id = edges.target
left join snapshot_owners on snapshot_owners.owner = edges.owner
where edges.live
