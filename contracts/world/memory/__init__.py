"""Designs what an agent remembers: the stores, their retention, their write rules, and the queries that recall."""
