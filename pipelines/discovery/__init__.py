"""Determines the status of the service's capabilities from their data and from its answers at its public address."""
