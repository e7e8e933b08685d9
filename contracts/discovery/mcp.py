"""Builds the documents that lead a client to the MCP servers: cards (SEP-2127), their catalog, and `server.json`."""

from typing import Any

from contracts.connect.key_server import KEY_MCP_PATH, KEY_SERVER
from contracts.connect.server import (
    CONNECT_SERVER,
    MCP_PATH,
    PROTOCOL_VERSIONS,
    SERVER_NAME,
    SERVER_TITLE,
    ServerIdentity,
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
    KEY_SERVER_CARD_PATH,
    OPENAPI_PATH,
    REGISTRATION_PATH,
    SERVER_CARD_MEDIA_TYPE,
    SERVER_CARD_PATH,
    SERVICE_ID,
    SERVICE_NAME,
    SKILL_PATH,
)

SERVER_CARD_SCHEMA = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"


REGISTRY_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"

_KEY_HEADER = {
    "name": "Authorization",
    "description": "An API key: Bearer svc_<tier>_...",
    "value": "Bearer {api_key}",
    "isRequired": True,
    "isSecret": True,
    "variables": {"api_key": {"description": "The API key, from a claim", "isRequired": True, "isSecret": True}},
}


def server_card(installation: Installation) -> dict[str, Any]:
    """Builds the card: the server's name and address. Clients get the list of tools from the server itself."""
    remote = _remote(installation, MCP_PATH)
    companion = {"companionApplication": is_live(installation, "companion_application")}
    return _card(installation, CONNECT_SERVER, remote, companion)


def key_server_card(installation: Installation) -> dict[str, Any]:
    """Builds the card of the server by key. It names the tools, because that server lists them only for keys."""
    remote = _remote(installation, KEY_MCP_PATH) | {"headers": [_KEY_HEADER]}
    # Imported here because every start of the API imports this module, and only publishing needs the tools' models.
    from contracts.connect.key_tools import KEY_TOOLS

    return _card(installation, KEY_SERVER, remote, {"toolNames": [tool.name for tool in KEY_TOOLS]})


def registry_entry(installation: Installation) -> dict[str, Any]:
    """Builds `server.json`, with which an operator publishes the server by key in the MCP registry."""
    return {
        "$schema": REGISTRY_SCHEMA,
        **_identity(installation, KEY_SERVER),
        "remotes": [
            {"type": "streamable-http", "url": installation.url(KEY_MCP_PATH), "headers": [_KEY_HEADER]},
        ],
    }


def _card(
    installation: Installation, identity: ServerIdentity, remote: dict[str, Any], facts: dict[str, Any]
) -> dict[str, Any]:
    return {
        "$schema": SERVER_CARD_SCHEMA,
        **_identity(installation, identity),
        "remotes": [remote],
        "_meta": {
            f"{reverse_dns(installation.base_url)}/{SERVICE_ID}": {
                **facts,
                "capabilities": installation.url(CAPABILITIES_PATH),
                "registration": installation.url(REGISTRATION_PATH),
            }
        },
    }


def _identity(installation: Installation, identity: ServerIdentity) -> dict[str, Any]:
    return {
        "name": f"{reverse_dns(installation.base_url)}/{identity.name}",
        "title": identity.title,
        "description": identity.description,
        "version": identity.version,
        "websiteUrl": installation.url(CONNECT_PAGE_PATH),
        "icons": [{"src": installation.url(ICON_PATH), "mimeType": "image/svg+xml", "sizes": ["any"]}],
    }


def _remote(installation: Installation, path: str) -> dict[str, Any]:
    return {
        "type": "streamable-http",
        "url": installation.url(path),
        "supportedProtocolVersions": list(PROTOCOL_VERSIONS),
    }


def ai_catalog(installation: Installation) -> dict[str, Any]:
    """Builds the catalog: the cards of both MCP servers, the agent's card, the skill and the API."""
    domain = host_of(installation.base_url)
    entries = [
        ("mcp", SERVER_NAME, SERVER_TITLE, SERVER_CARD_MEDIA_TYPE, SERVER_CARD_PATH),
        ("mcp", KEY_SERVER.name, KEY_SERVER.title, SERVER_CARD_MEDIA_TYPE, KEY_SERVER_CARD_PATH),
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
