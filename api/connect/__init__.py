"""Connect over MCP: the endpoint, its tools and the pairing of an assistant with its user."""
