"""Intakes into the graph and the warehouse: governed events, rows without personal data, statistics and funnel."""
