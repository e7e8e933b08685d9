-- At most one row: the newest state of the edge :id as JSON.
select body from world_edges where id = :id
