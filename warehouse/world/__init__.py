"""Stores the graph: writes proposals to the ledger and answers queries from snapshots, memory and past generations."""
