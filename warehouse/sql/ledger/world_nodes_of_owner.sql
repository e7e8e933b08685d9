-- One row per private node of :owner: its newest state as JSON.
select body from world_nodes where owner = :owner order by id
