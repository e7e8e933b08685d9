-- The standing of statements, and the times at which states become due.

-- The highest class of sources that a key may claim, and the public Ed25519 key (base64url) of the system that signs with
-- it; contracts/standing.yaml defines the classes.
alter table api_keys add column max_class text not null default 'document';

alter table api_keys add column signer text;

-- The next time at which the newest state begins or ends to be valid, in UTC; null: none.
alter table world_nodes add column due text;

alter table world_edges add column due text;

create index world_nodes_by_due on world_nodes (due) where due is not null;

create index world_edges_by_due on world_edges (due) where due is not null;

create index world_events_by_time on world_events (recorded_at);
