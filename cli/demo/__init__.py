"""The local chain that the service runs on without configuration: contracts, history, traffic, recording."""
