"""Connections to other services."""
