"""The graph's part of a run: the constitution, the signals of telemetry, and the ledger's events as tables."""
