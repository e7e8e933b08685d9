create index world_edges_with_form on world_edges (id) where form is not null;
