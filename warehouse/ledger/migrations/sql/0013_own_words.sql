-- The words that owners add to the ontology, and the owners' erasures.

-- One row per version of an owner's ontology; seq is that of the decision that approved it, body the JSON of
-- contracts.world.own_ontology, recorded_at in UTC.
create table world_ontologies (
    owner text not null,
    version integer not null,
    seq bigint not null references world_decisions (seq),
    recorded_at text not null,
    body text not null,
    primary key (owner, version)
);

-- One row per erasure that an owner requested; scope is node, source or everything, subject_sha256 the hash of owner and
-- erased id or source. Files are rewritten later: finished_at (UTC) is null until then.
create table world_erasures (
    id text not null primary key,
    owner text not null,
    scope text not null check (scope in ('node', 'source', 'everything')),
    subject_sha256 text not null,
    nodes integer not null,
    edges integer not null,
    requested_at text not null,
    finished_at text
);

create index world_erasures_by_subject on world_erasures (owner, subject_sha256);
create index world_erasures_waiting on world_erasures (requested_at) where finished_at is null;
