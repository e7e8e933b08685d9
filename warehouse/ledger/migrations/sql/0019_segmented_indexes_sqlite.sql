-- Ids of edges are hashes and targets come in no order: each insert changes a page anywhere in an index. With the segment
-- first that is a page of the segment, and a commit writes few of them.
drop index world_events_by_entity;

create index world_events_by_entity on world_events (segment, entity_id);

drop index world_edges_by_target;

create index world_edges_by_target on world_edges (segment, target);
