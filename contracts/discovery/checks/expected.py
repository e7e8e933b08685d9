"""Which documents agents look for, as the interface (4.1) and today's standards have them, and how each is served."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

JSON = ("application/json",)
TEXT = ("text/plain",)
MARKDOWN = ("text/markdown",)
HTML = ("text/html",)

Service = Literal["file", "live", "limited", "redirect"]


@dataclass(frozen=True, slots=True)
class Expected:
    """One document. `shape` names its check; `served` as a `file` (ETag, public caching, HEAD, OPTIONS), `live` from
    memory, `limited`: counted against the client's budget, or as a `redirect` that leads to a document."""

    path: str
    media_types: tuple[str, ...]
    shape: str
    served: Service = "file"


EXPECTED = (
    Expected("/", HTML, "page", "redirect"),
    Expected("/connect/", HTML, "page"),
    Expected("/connect/index.md", MARKDOWN, "markdown"),
    Expected("/llms.txt", (*TEXT, *MARKDOWN), "llms"),
    Expected("/agents.txt", TEXT, "agents"),
    Expected("/.well-known/agents.txt", TEXT, "agents"),
    Expected("/robots.txt", TEXT, "robots"),
    Expected("/sitemap.xml", ("application/xml", "text/xml"), "sitemap"),
    Expected("/.well-known/security.txt", TEXT, "security"),
    Expected("/skill.md", MARKDOWN, "skill"),
    Expected("/.well-known/agent-skills/index.json", JSON, "agent_skills"),
    Expected("/openapi.json", JSON, "openapi"),
    Expected("/openapi-v2.yaml", ("application/yaml",), "openapi"),
    Expected("/.well-known/api-catalog", ("application/linkset+json",), "api_catalog"),
    Expected("/.well-known/ai-catalog.json", ("application/ai-catalog+json",), "ai_catalog"),
    Expected("/mcp/server-card", ("application/mcp-server-card+json",), "server_card"),
    Expected("/.well-known/mcp.json", ("application/mcp-server-card+json", *JSON), "server_card"),
    Expected("/.well-known/agent-card.json", (*JSON, "application/a2a+json"), "agent_card"),
    Expected("/.well-known/agent.json", (*JSON, "application/a2a+json"), "agent_card"),
    Expected("/.well-known/jwks.json", (*JSON, "application/jwk-set+json"), "jwks"),
    Expected("/.well-known/x402.json", JSON, "x402"),
    Expected("/.well-known/x402-metadata.json", JSON, "x402_metadata"),
    Expected("/.well-known/svc-base-capabilities.json", JSON, "capabilities"),
    Expected("/.well-known/svc-public-contract.json", JSON, "public_contract"),
    Expected("/.well-known/svc-agent-registration.json", JSON, "registration"),
    Expected("/.well-known/agent-registration.json", JSON, "erc8004"),
    Expected("/.well-known/ai-plugin.json", JSON, "ai_plugin"),
    Expected("/actions.json", JSON, "action_rules"),
    Expected("/blink/guardrail", JSON, "action", "limited"),
    Expected("/blink/worldmodel", JSON, "action", "limited"),
    Expected("/svc-context.json", JSON, "context"),
    Expected("/hodlers-care/feed.json", ("application/feed+json",), "feed"),
    Expected("/health", JSON, "health", "live"),
    Expected("/api/agent-access/plans", JSON, "plans", "limited"),
)

BY_PATH = {each.path: each for each in EXPECTED}

STRANGERS = ("/.well-known/no-such-document.json", "/no-such-document", "/connect/no-such-page")
"""Neighbours that don't exist: they have to say so as JSON, and never as a page with 200."""

ACTION_HEADERS = ("x-action-version", "x-blockchain-ids")
"""Without them clients of wallet actions assume Solana's main network."""

FRONT_DOORS = ("/", "/connect/")
"""Pages whose Link headers lead to everything else."""

FRONT_RELATIONS = ("api-catalog", "service-desc", "describedby")
