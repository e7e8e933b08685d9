"""Serves the graph over HTTP: writes and queries, export and import, the schema and owners' ontologies."""
