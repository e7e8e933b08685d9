"""Runs on a clock: ingestion, derived tables, checks and publishing. Never imports the API."""
