-- One row per node of a domain (null: any) and of one of the types (none: any), by id.
select id from nodes_then
where coalesce(domain = $domain, $domain is null) and (len($types) = 0 or list_contains($types, type))
order by id
