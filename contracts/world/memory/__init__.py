"""Designs what an agent remembers: the stores, their retention, their write rules and their retrieval queries."""
