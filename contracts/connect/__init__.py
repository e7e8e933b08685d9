"""Contains the rules of pairing an assistant over MCP: server facts, codes, sessions, plans and answers. Pure."""
