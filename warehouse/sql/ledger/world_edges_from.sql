-- One row per edge of a type from the node :source: its newest state as JSON.
select body from world_edges where source = :source and type = :type order by revision
