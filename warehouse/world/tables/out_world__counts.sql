-- One row per domain: live public nodes, and live public edges from them to live public nodes, at one revision.
create table if not exists out_world__counts (
    domain varchar not null,  -- Domain of the graph
    node_count bigint not null,  -- Live public nodes of the domain
    edge_count bigint not null,  -- Live public edges from them to live public nodes
    revision bigint not null  -- Revision of the graph that was counted
);
