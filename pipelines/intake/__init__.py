"""Syncs intakes into the graph and the warehouse: governed events, anonymous rows, statistics and funnel."""
