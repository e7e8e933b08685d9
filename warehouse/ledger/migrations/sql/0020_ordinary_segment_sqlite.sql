-- Rows of a large import need no entries in these indexes: the last event of a batch, in the ordinary segment, represents
-- all of them, which have the same time, and edges from an owner's own nodes are found by their sources.
drop index world_events_by_time;

create index world_events_by_time on world_events (recorded_at) where segment = 0;

drop index world_edges_by_owner_and_ends;

create index world_edges_by_owner_and_ends on world_edges (owner, source, type) where segment = 0;
