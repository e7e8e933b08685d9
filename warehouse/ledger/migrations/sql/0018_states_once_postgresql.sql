-- The state of an edge is the body of its newest event, whose seq is the edge's revision.
alter table world_edges drop constraint world_edges_pkey;

alter table world_edges add primary key (revision);

alter table world_edges drop column body;

drop index world_edges_by_target;

create index world_edges_by_target on world_edges (target);
