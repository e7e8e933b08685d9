"""What the MCP server says of itself, wherever it says it: in `server/discover`, in `initialize` and in its card."""

from __future__ import annotations

MCP_PATH = "/mcp"

SERVER_NAME = "svc-connect"
SERVER_TITLE = "Agent runtime: connect"
SERVER_VERSION = "0.2.0"
SERVER_DESCRIPTION = "Pairs an assistant with its person and leads it through the set-up of a local agent runtime."
"""At most 100 characters, as server cards have it."""

PROTOCOL_VERSIONS = ("2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Revisions of MCP that are answered, newest first."""

FIRST_TOOL = "svc_connect_handshake"
"""The one tool that needs no session."""
