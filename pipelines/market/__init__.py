"""Prices: polls several sources, chooses the one to believe, and stores the answers."""
