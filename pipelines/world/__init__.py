"""The graph's part of a run: the constitution, what telemetry says, and the ledger's events as tables."""
