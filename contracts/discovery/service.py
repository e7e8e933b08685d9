"""Names of the service and paths of its documents that several documents state."""

from __future__ import annotations

SERVICE_ID = "svc"
SERVICE_NAME = "Agent runtime service"
SERVICE_SHORT_NAME = "Agent runtime"
SERVICE_VERSION = "0.2.0"
SERVICE_SUMMARY = "An infrastructure runtime for personal AI agents."
SERVICE_DESCRIPTION = (
    "An infrastructure runtime for personal AI agents: a governed knowledge graph of seven domains, guardrail checks "
    "that explain themselves, token telemetry that carries its proof, and paid access for agents."
)

HEALTH_PATH = "/health"
OPENAPI_PATH = "/openapi.json"
OPENAPI_V2_PATH = "/openapi-v2.yaml"
CONNECT_PAGE_PATH = "/connect/"
LLMS_PATH = "/llms.txt"
SKILL_PATH = "/skill.md"
ICON_PATH = "/icon.svg"
CONTEXT_PATH = "/svc-context.json"

MCP_JSON_PATH = "/.well-known/mcp.json"
SERVER_CARD_PATH = "/mcp/server-card"
AI_CATALOG_PATH = "/.well-known/ai-catalog.json"
AGENT_CARD_PATH = "/.well-known/agent-card.json"
AGENT_PATH = "/.well-known/agent.json"
X402_PATH = "/.well-known/x402.json"
X402_METADATA_PATH = "/.well-known/x402-metadata.json"
CAPABILITIES_PATH = "/.well-known/svc-base-capabilities.json"
PUBLIC_CONTRACT_PATH = "/.well-known/svc-public-contract.json"
REGISTRATION_PATH = "/.well-known/svc-agent-registration.json"
ERC8004_PATH = "/.well-known/agent-registration.json"
AI_PLUGIN_PATH = "/.well-known/ai-plugin.json"
API_CATALOG_PATH = "/.well-known/api-catalog"
AGENT_SKILLS_PATH = "/.well-known/agent-skills/index.json"

SERVER_CARD_MEDIA_TYPE = "application/mcp-server-card+json"
AI_CATALOG_MEDIA_TYPE = "application/ai-catalog+json"
API_CATALOG_MEDIA_TYPE = "application/linkset+json"
AGENT_CARD_MEDIA_TYPE = "application/json"
SCHEMA_MEDIA_TYPE = "application/schema+json"
