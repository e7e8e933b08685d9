-- One row per live node of one owner, type and title, the oldest ten.
select id from world_nodes where dedupe_key = :dedupe_key and live = 1 order by revision limit 10
