"""Connect over MCP: the endpoint, its tools and what pairs an assistant with its person."""
