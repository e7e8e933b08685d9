-- One row per owner of live private state; codes count from 1 in the order of owners.
create or replace temp table snapshot_owners as
select owner, row_number() over (order by owner)::uinteger as code
from (
    select owner from snapshot_input_nodes where owner is not null and live
    union
    select owner from snapshot_input_edges where owner is not null and live
);
