-- One row per node of one owner, subject and single-valued predicate: its newest state as JSON.
select body from world_nodes where fact_key = :fact_key order by revision
