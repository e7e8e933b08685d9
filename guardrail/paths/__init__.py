"""Judges paths: their spelling, their place, the care they deserve, and what writing to them does."""
