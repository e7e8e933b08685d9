-- One row per edge from or to a node: its newest state as JSON.
select body from world_edges where source = :node_id or target = :node_id order by id
