-- One row per node that an edge leads to from these (outbound) or from which one leads here (inbound), by id.
select target as id from edges_then where $outbound and source in (select unnest($ids::varchar[]))
union
select source as id from edges_then where $inbound and target in (select unnest($ids::varchar[]))
order by id
