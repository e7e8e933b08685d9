-- Imports are staged until they are applied, and include decisions of other installations.

-- One row per decision of another installation that wrote an imported state of :owner; body is its record as JSON.
create table world_origin_decisions (
    owner text not null,
    id text not null,
    body text not null,
    primary key (owner, id)
);

-- One row per import that a key began. result is the answer of the applied import as JSON; null before.
create table world_imports (
    id text not null primary key,
    owner text not null,
    key_id text not null,
    created_at text not null,
    expires_at text not null,
    result text
);

create index world_imports_by_owner on world_imports (owner);

-- One row per received chunk, compressed; sha256 and bytes are those of the uploaded content.
create table world_import_chunks (
    import_id text not null references world_imports (id) on delete cascade,
    number integer not null,
    sha256 text not null,
    bytes integer not null,
    body bytea not null,
    primary key (import_id, number)
);
