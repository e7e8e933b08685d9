"""Holders: lists taken and proven at a final block, and what other sources say."""
