-- One row per domain that has live public nodes: how many.
select domain, count(*) as nodes from world_nodes where visibility = 'public' and live = 1 group by domain order by domain
