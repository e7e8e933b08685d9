-- Every index on millions of rows makes every write more expensive. In SQLite an `integer primary key` is the row's own
-- number; any other primary key needs an additional index.

create table changes_by_seq (
    seq integer not null primary key check (seq > 0),
    kind text not null,
    entity_id text not null,
    recorded_at text not null
);

insert into changes_by_seq select seq, kind, entity_id, recorded_at from ledger_changes order by seq;

drop table ledger_changes;

alter table changes_by_seq rename to ledger_changes;

create table events_by_seq (
    seq integer not null primary key,
    kind text not null check (kind in ('node', 'edge')),
    entity_id text not null,
    decision_seq bigint not null,
    actor text not null,
    source text not null,
    recorded_at text not null,
    body text not null
);

insert into events_by_seq
select seq, kind, entity_id, decision_seq, actor, source, recorded_at, body from world_events order by seq;

drop table world_events;

alter table events_by_seq rename to world_events;

-- The last column of each index is implicitly the row's number.
create index world_events_by_entity on world_events (entity_id);
create index world_events_by_decision on world_events (decision_seq);
create index world_events_by_time on world_events (recorded_at);
create index world_events_of_constitution on world_events (kind, entity_id) where actor = 'constitution';

-- One row per edge: the ends of its newest state. The state itself is the body of the edge's newest event.
create table edges_by_revision (
    revision integer not null primary key,
    id text not null,
    source text not null,
    target text not null,
    type text not null,
    owner text not null,
    visibility text not null,
    live integer not null,
    due text
);

insert into edges_by_revision
select revision, id, source, target, type, owner, visibility, live, due from world_edges order by revision;

drop table world_edges;

alter table edges_by_revision rename to world_edges;

create index world_edges_by_source on world_edges (source, type);
create index world_edges_by_target on world_edges (target);
create index world_edges_by_owner on world_edges (owner);
create index world_edges_by_owner_and_ends on world_edges (owner, source, type);
create index world_edges_by_due on world_edges (due) where due is not null;
