-- By segment, like other indexes of random keys.
create index world_edges_with_form on world_edges (segment, id) where form is not null;
