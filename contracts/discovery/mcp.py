"""Makes the documents that lead a client to the MCP server: its card (SEP-2127), and the ai-catalog with the card."""

from typing import Any

from contracts.connect.server import (
    MCP_PATH,
    PROTOCOL_VERSIONS,
    SERVER_DESCRIPTION,
    SERVER_NAME,
    SERVER_TITLE,
    SERVER_VERSION,
)
from contracts.discovery.capabilities import is_live
from contracts.discovery.encoding import host_of, reverse_dns
from contracts.discovery.installation import Installation
from contracts.discovery.service import (
    AGENT_CARD_MEDIA_TYPE,
    AGENT_CARD_PATH,
    AI_CATALOG_PATH,
    CAPABILITIES_PATH,
    CONNECT_PAGE_PATH,
    ICON_PATH,
    OPENAPI_PATH,
    REGISTRATION_PATH,
    SERVER_CARD_MEDIA_TYPE,
    SERVER_CARD_PATH,
    SERVICE_ID,
    SERVICE_NAME,
    SKILL_PATH,
)

SERVER_CARD_SCHEMA = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"


def server_card(installation: Installation) -> dict[str, Any]:
    """Makes the card: the server's name and address. Clients get the list of tools from the server itself."""
    name = reverse_dns(installation.base_url)
    return {
        "$schema": SERVER_CARD_SCHEMA,
        "name": f"{name}/{SERVER_NAME}",
        "title": SERVER_TITLE,
        "description": SERVER_DESCRIPTION,
        "version": SERVER_VERSION,
        "websiteUrl": installation.url(CONNECT_PAGE_PATH),
        "icons": [{"src": installation.url(ICON_PATH), "mimeType": "image/svg+xml", "sizes": ["any"]}],
        "remotes": [
            {
                "type": "streamable-http",
                "url": installation.url(MCP_PATH),
                "supportedProtocolVersions": list(PROTOCOL_VERSIONS),
            }
        ],
        "_meta": {
            f"{name}/{SERVICE_ID}": {
                "companionApplication": is_live(installation, "companion_application"),
                "capabilities": installation.url(CAPABILITIES_PATH),
                "registration": installation.url(REGISTRATION_PATH),
            }
        },
    }


def ai_catalog(installation: Installation) -> dict[str, Any]:
    """Makes the catalog: the server's card, the agent's card, the skill and the API."""
    domain = host_of(installation.base_url)
    entries = [
        ("mcp", SERVER_NAME, SERVER_TITLE, SERVER_CARD_MEDIA_TYPE, SERVER_CARD_PATH),
        ("a2a", SERVICE_ID, SERVICE_NAME, AGENT_CARD_MEDIA_TYPE, AGENT_CARD_PATH),
        ("skill", SERVER_NAME, "Skill: connect", "text/markdown", SKILL_PATH),
        ("openapi", SERVICE_ID, f"{SERVICE_NAME}: API", "application/json", OPENAPI_PATH),
    ]
    return {
        "specVersion": "1.0",
        "entries": [
            {
                "identifier": f"urn:air:{domain}:{namespace}:{name}",
                "displayName": title,
                "type": media_type,
                "mediaType": media_type,
                "url": installation.url(path),
            }
            for namespace, name, title, media_type, path in entries
        ],
        "host": {"displayName": SERVICE_NAME, "identifier": installation.url(AI_CATALOG_PATH)},
    }
