"""Stores: the only package that knows DuckDB, the ledger's database and the published generations."""
