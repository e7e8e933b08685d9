"""Names and describes the MCP server for `server/discover`, `initialize` and its card."""

from dataclasses import dataclass

MCP_PATH = "/mcp"

SERVER_NAME = "svc-connect"
SERVER_TITLE = "Agent runtime: connect"
SERVER_VERSION = "0.2.0"
SERVER_DESCRIPTION = "Pairs an assistant with its person and leads it through the set-up of a local agent runtime."
"""At most 100 characters, as server cards require."""

MODERN_VERSIONS = ("2026-07-28",)
"""Revisions of MCP in which each request names its version. Older ones negotiate it with `initialize`."""

PROTOCOL_VERSIONS = (*MODERN_VERSIONS, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Supported revisions of MCP, newest first."""

FIRST_TOOL = "svc_connect_handshake"
"""The only tool that needs no session."""

SESSION_REQUESTS_A_MINUTE = 120

INSTRUCTIONS = (
    "Pairs you with your user and leads you through the set-up of a local agent runtime; it calls no model. Ask the "
    f"user for a pairing code, call {FIRST_TOOL} with it, and send the session_token from its answer in the arguments "
    "of every other tool. Then get the plan from svc_connect_plan, do its steps with the user's consent, and report "
    "each with svc_connect_report_step. After a lost context, call svc_connect_status. A failed call has isError and a "
    "JSON text that tells whether to retry and what to do."
)
"""Instructions that a client passes on to its model."""


@dataclass(frozen=True)
class ServerIdentity:
    """The description of an MCP server. A client passes `instructions` on to its model."""

    name: str
    title: str
    description: str
    instructions: str
    version: str = SERVER_VERSION


CONNECT_SERVER = ServerIdentity(SERVER_NAME, SERVER_TITLE, SERVER_DESCRIPTION, INSTRUCTIONS)
