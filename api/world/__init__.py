"""Serves the graph over HTTP: signals, capsules, the schema and queries."""
