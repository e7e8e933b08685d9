"""Pairing an assistant over MCP: the server's facts, codes and sessions, plans and answers. Pure."""
