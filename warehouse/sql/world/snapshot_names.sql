-- One row: nodes, live private nodes, and the types and domains that occur, in order.
select
    count(*) as nodes,
    count(*) filter (owner between 1 and 4294967294) as private_nodes,
    coalesce(list_sort(list_distinct(list(type))), []) as types,
    coalesce(list_sort(list_distinct(list(domain))), []) as domains
from snapshot_nodes
