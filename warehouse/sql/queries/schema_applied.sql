-- One row: the SHA-256 of the schema that was applied last.
select schema_sha256 from schema_applied
