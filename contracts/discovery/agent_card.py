"""Builds the agent card (A2A 1.0) and its signature. The service has no A2A transport, as the card's bindings state."""

from typing import Any

import jwt

from contracts.access.signing import ALGORITHM, JWKS_PATH, SigningKey
from contracts.canonical import canonical_json
from contracts.connect.server import MCP_PATH
from contracts.discovery.capabilities import live_ones
from contracts.discovery.installation import Installation
from contracts.discovery.service import (
    CAPABILITIES_PATH,
    CONNECT_PAGE_PATH,
    HEALTH_PATH,
    ICON_PATH,
    OPENAPI_PATH,
    PUBLIC_CONTRACT_PATH,
    REGISTRATION_PATH,
    SERVICE_DESCRIPTION,
    SERVICE_NAME,
    SERVICE_VERSION,
    X402_PATH,
)

A2A_VERSION = "1.0"
MCP_BINDING = "https://modelcontextprotocol.io/specification/2026-07-28"
OPENAPI_BINDING = "https://spec.openapis.org/oas/v3.0.3"
"""Bindings of interfaces that are not A2A's own: an A2A client correctly finds no interface that it could use."""

API_V2_PATH = "/api/v2"


def agent_card(installation: Installation) -> dict[str, Any]:
    """Builds the unsigned card. Its skills are the capabilities that are live according to the settings.

    It contains no empty values, numbers or nulls, so its canonical form is the card itself, however an implementation
    drops defaults.
    """
    return {
        "name": SERVICE_NAME,
        "description": SERVICE_DESCRIPTION,
        "version": SERVICE_VERSION,
        "supportedInterfaces": [
            {"url": installation.url(MCP_PATH), "protocolBinding": MCP_BINDING, "protocolVersion": A2A_VERSION},
            {"url": installation.url(API_V2_PATH), "protocolBinding": OPENAPI_BINDING, "protocolVersion": A2A_VERSION},
        ],
        "provider": {"organization": SERVICE_NAME, "url": installation.url(CONNECT_PAGE_PATH)},
        "documentationUrl": installation.url(CONNECT_PAGE_PATH),
        "iconUrl": installation.url(ICON_PATH),
        "capabilities": {
            "streaming": False,
            "pushNotifications": False,
            "extendedAgentCard": False,
            "extensions": [
                {
                    "uri": installation.url(CAPABILITIES_PATH),
                    "description": "Describes the rest of the service, which answers over MCP and HTTP and has "
                    "no A2A transport.",
                    "params": {
                        "openapi": installation.url(OPENAPI_PATH),
                        "health": installation.url(HEALTH_PATH),
                        "capabilities": installation.url(CAPABILITIES_PATH),
                        "publicContract": installation.url(PUBLIC_CONTRACT_PATH),
                        "registration": installation.url(REGISTRATION_PATH),
                        "payment": installation.url(X402_PATH),
                        "network": installation.network,
                    },
                }
            ],
        },
        "securitySchemes": {
            "bearer": {
                "httpAuthSecurityScheme": {
                    "scheme": "Bearer",
                    "description": "An API key, from a claim's activation packet.",
                }
            },
            "apiKey": {
                "apiKeySecurityScheme": {
                    "location": "header",
                    "name": "X-Api-Key",
                    "description": "The same key in its own header.",
                }
            },
        },
        "defaultInputModes": ["application/json"],
        "defaultOutputModes": ["application/json"],
        "skills": [
            {
                "id": capability.id,
                "name": capability.title,
                "description": capability.description,
                "tags": [capability.kind, f"access:{capability.access}"],
            }
            for capability in live_ones(installation)
            if capability.skill
        ],
    }


def signed_card(installation: Installation, signer: SigningKey) -> dict[str, Any]:
    """Adds a JWS over the card's RFC 8785 bytes. The same card under the same key has the same signature."""
    card = agent_card(installation)
    header = {"kid": signer.kid, "typ": "JOSE", "jku": installation.url(JWKS_PATH)}
    token = jwt.api_jws.encode(canonical_json(card), signer.private, algorithm=ALGORITHM, headers=header)
    protected, _, signature = token.split(".")
    return {**card, "signatures": [{"protected": protected, "signature": signature}]}
