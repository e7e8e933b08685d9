-- One row: the schema that was applied last.
create table if not exists schema_applied (
    schema_sha256 varchar not null  -- SHA-256 of the schema's text
);
