"""Runs the graph's part of a pipeline run: the constitution, telemetry signals, and the ledger's events as tables."""
