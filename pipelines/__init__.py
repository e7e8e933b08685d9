"""Everything that runs on a schedule: ingestion, derived tables, checks and publishing. Never imports the API."""
