"""The local chain on which the service runs if nothing is configured: contracts, history, traffic, recording."""
