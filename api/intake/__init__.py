"""Intake over HTTP: registration, status, capsule, statistics and recent activity."""
