"""Prices: what several sources say, which of them is believed, and what is kept."""
