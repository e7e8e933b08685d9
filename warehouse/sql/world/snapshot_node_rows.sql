-- One row per node, in order of numbers.
select num, id, type, domain, owner, body from snapshot_nodes order by num
