"""Attacks from outside on a running service. They import nothing of the service, so that they fit older commits."""
