"""Determines the status of our capabilities from their data and from the service's answers at its public address."""
