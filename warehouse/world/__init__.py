"""The graph's store: what is written, and what is read from it."""
