"""Attacks from outside on a running service: `make attack`. Imports nothing of the service, so it fits older commits."""
