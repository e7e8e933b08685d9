"""Stores the graph: writes proposals to the ledger and answers questions from snapshots, memory and past
generations."""
