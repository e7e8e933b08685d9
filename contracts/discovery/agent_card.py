"""The agent card (A2A 1.0) and its signature. No A2A transport is run: the card says so by the bindings it names."""

from __future__ import annotations

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
"""Bindings of interfaces that are not A2A's own: a client of A2A finds none that it could speak, which is the truth."""

API_V2_PATH = "/api/v2"


def agent_card(installation: Installation) -> dict[str, Any]:
    """The card, unsigned. A skill is a capability that is live by the settings.

    Nothing in it is empty, and numbers and nulls are absent: so its canonical form is the card itself, whichever way
    an implementation drops defaults.
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
                    "description": "Where the rest of the service is described. It answers over MCP and HTTP, and runs "
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
                    "description": "An API key, as a claim's activation packet holds it.",
                }
            },
            "apiKey": {
                "apiKeySecurityScheme": {
                    "location": "header",
                    "name": "X-Api-Key",
                    "description": "The same key in a header of its own.",
                }
            },
        },
        "defaultInputModes": ["application/json"],
        "defaultOutputModes": ["application/json"],
        "skills": [
            {
                "id": each.id,
                "name": each.title,
                "description": each.description,
                "tags": [each.kind, f"access:{each.access}"],
            }
            for each in live_ones(installation)
            if each.skill
        ],
    }


def signed_card(installation: Installation, signer: SigningKey) -> dict[str, Any]:
    """The card with a JWS over its RFC 8785 bytes. The same card under the same key has the same signature."""
    card = agent_card(installation)
    header = {"kid": signer.kid, "typ": "JOSE", "jku": installation.url(JWKS_PATH)}
    token = jwt.api_jws.encode(canonical_json(card), signer.private, algorithm=ALGORITHM, headers=header)
    protected, _, signature = token.split(".")
    return {**card, "signatures": [{"protected": protected, "signature": signature}]}
