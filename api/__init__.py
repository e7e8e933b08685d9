"""Answers requests: published documents from memory, and live writes. Never imports the pipelines."""
