"""What the MCP server says of itself, wherever it says it: in `server/discover`, in `initialize` and in its card."""

from __future__ import annotations

MCP_PATH = "/mcp"

SERVER_NAME = "svc-connect"
SERVER_TITLE = "Agent runtime: connect"
SERVER_VERSION = "0.2.0"
SERVER_DESCRIPTION = "Pairs an assistant with its person and leads it through the set-up of a local agent runtime."
"""At most 100 characters, as server cards have it."""

MODERN_VERSIONS = ("2026-07-28",)
"""Revisions of MCP that each request names for itself. Older ones are agreed on by `initialize`."""

PROTOCOL_VERSIONS = (*MODERN_VERSIONS, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Revisions of MCP that are answered, newest first."""

FIRST_TOOL = "svc_connect_handshake"
"""The one tool that needs no session."""

SESSION_REQUESTS_A_MINUTE = 120

INSTRUCTIONS = (
    "Pairs you with your user and leads you through the set-up of a local agent runtime; it calls no model. Ask the "
    f"user for a pairing code, call {FIRST_TOOL} with it, and send the session_token that it answers in the arguments "
    "of every other tool. Then get the plan from svc_connect_plan, do its steps with the user's consent, and report "
    "each with svc_connect_report_step. After a lost context ask svc_connect_status. A failed call has isError and a "
    "JSON text that says whether to retry and what to do."
)
"""What a client tells its model about the server."""
