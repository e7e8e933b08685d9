"""Stores: the only place that knows DuckDB, the ledger's database and the published generations."""
