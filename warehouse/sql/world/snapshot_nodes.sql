-- One row per node, numbered from 0 in the order of ids (by bytes). owner is 0 for public, else the owner's code;
-- 4294967295 where the state is not live, of which nothing but the number is kept.
create or replace temp table snapshot_nodes as
select
    (row_number() over (order by id) - 1)::uinteger as num,
    id,
    type,
    domain,
    (case when not live then 4294967295 else coalesce(code, 0) end)::uinteger as owner,
    case when live then body else '' end as body
from snapshot_input_nodes
left join snapshot_owners using (owner);
