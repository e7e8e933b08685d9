"""Syncs connect sessions into the graph and the warehouse: finished set-ups, counts and states, without identities."""
