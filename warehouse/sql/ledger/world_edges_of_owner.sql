-- One row per private edge of :owner: its newest state as JSON.
select body from world_edges where owner = :owner order by id
