-- What each column of the graph's tables means, for whoever looks at them; applied to an empty copy of the schema.

comment on column core_world__nodes.id is 'The node';
comment on column core_world__nodes.revision is 'Revision that wrote this state: the ledger''s seq of its event';
comment on column core_world__nodes.title is 'One line; empty where it was erased';
comment on column core_world__nodes.type is 'Node type of the ontology';
comment on column core_world__nodes.domain is 'Domain of the type';
comment on column core_world__nodes.properties is 'Further properties as JSON';
comment on column core_world__nodes.visibility is 'public or private';
comment on column core_world__nodes.owner is 'Whose private node it is; null for public ones';
comment on column core_world__nodes.immutable is 'Whether only an amendment of the constitution changes it';
comment on column core_world__nodes.erased is 'Whether its texts were deleted for the rights of a person';
comment on column core_world__nodes.live is 'Whether the state is part of the live graph while it is the newest';
comment on column core_world__nodes.valid_from is 'From when it holds in the world, UTC';
comment on column core_world__nodes.valid_to is 'Until when it holds, UTC; null until further notice';
comment on column core_world__nodes.recorded_at is 'When the ledger took it, UTC';
comment on column core_world__nodes.retired_at is 'When a later state was recorded, UTC; null for the newest';
comment on column core_world__nodes.retired_revision is 'Revision of the later state; null for the newest';
comment on column core_world__nodes.source is 'Where the statement comes from';
comment on column core_world__nodes.actor is 'Who wrote it';

comment on column core_world__edges.id is 'The edge';
comment on column core_world__edges.revision is 'Revision that wrote this state: the ledger''s seq of its event';
comment on column core_world__edges.source is 'Node that it goes out from';
comment on column core_world__edges.target is 'Node that it goes to';
comment on column core_world__edges.type is 'Relationship type of the ontology';
comment on column core_world__edges.properties is 'Further properties as JSON';
comment on column core_world__edges.visibility is 'public or private';
comment on column core_world__edges.owner is 'Whose private edge it is; null for public ones';
comment on column core_world__edges.live is 'Whether the state is part of the live graph while it is the newest and both its nodes are live';
comment on column core_world__edges.valid_from is 'From when it holds in the world, UTC';
comment on column core_world__edges.valid_to is 'Until when it holds, UTC; null until further notice';
comment on column core_world__edges.recorded_at is 'When the ledger took it, UTC';
comment on column core_world__edges.retired_at is 'When a later state was recorded, UTC; null for the newest';
comment on column core_world__edges.retired_revision is 'Revision of the later state; null for the newest';
comment on column core_world__edges.stated_in is 'Where the statement comes from';
comment on column core_world__edges.actor is 'Who wrote it';

comment on column core_world__state.revision is 'The graph''s newest revision that is folded';
comment on column core_world__state.events is 'Events folded so far';
comment on column core_world__state.recorded_at is 'When the newest of them was recorded, UTC';

comment on column out_world__nodes.id is 'The node';
comment on column out_world__nodes.revision is 'Revision that wrote this state';
comment on column out_world__nodes.type is 'Node type of the ontology';
comment on column out_world__nodes.domain is 'Domain of the type';
comment on column out_world__nodes.owner is 'Whose private node it is; null for public ones';
comment on column out_world__nodes.live is 'Whether the state is part of the live graph while it is the newest';
comment on column out_world__nodes.newest is 'Whether no later state is folded';
comment on column out_world__nodes.body is 'The state as a JSON record';

comment on column out_world__edges.id is 'The edge';
comment on column out_world__edges.revision is 'Revision that wrote this state';
comment on column out_world__edges.source is 'Node that it goes out from';
comment on column out_world__edges.target is 'Node that it goes to';
comment on column out_world__edges.owner is 'Whose private edge it is; null for public ones';
comment on column out_world__edges.live is 'Whether the state is part of the live graph while it is the newest';
comment on column out_world__edges.newest is 'Whether no later state is folded';
comment on column out_world__edges.body is 'The state as a JSON record';

comment on column out_world__counts.domain is 'Domain of the graph';
comment on column out_world__counts.node_count is 'Live public nodes of the domain';
comment on column out_world__counts.edge_count is 'Live public edges from them to live public nodes';
comment on column out_world__counts.revision is 'The graph''s revision that the counts are of';

comment on column out_world__positions.id is 'The node';
comment on column out_world__positions.x is 'From the left, 0 to 1000';
comment on column out_world__positions.y is 'From the top, 0 to 1000';
