-- Ids of edges are hashes and targets are in no order, so each insert changes a random page of an index. With the segment
-- as first column it is a page of the segment, and a commit writes few pages.
drop index world_events_by_entity;

create index world_events_by_entity on world_events (segment, entity_id);

drop index world_edges_by_target;

create index world_edges_by_target on world_edges (segment, target);
