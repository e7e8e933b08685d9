-- At most one row: the newest state of the node :id as JSON.
select body from world_nodes where id = :id
