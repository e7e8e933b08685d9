"""Serves intake over HTTP: registration, status, capsule, statistics and recent activity."""
