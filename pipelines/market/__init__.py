"""Prices: polls several sources, stores their answers, and chooses the one to serve."""
