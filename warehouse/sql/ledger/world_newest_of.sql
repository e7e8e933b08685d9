-- One row: the newest revision of an owner's nodes and edges; null where there are none.
select max(revision) as revision
from (
    select max(revision) as revision from world_nodes where owner = :owner
    union all
    select max(revision) as revision from world_edges where owner = :owner
) as newest
