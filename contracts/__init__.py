"""Holds the models, rules and published words of the service. Pure: no network, no store, no clock."""
