"""Looking at our own capabilities: what their data says, and what the service answers at its public address."""
