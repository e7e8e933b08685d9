"""Builds manifests of other standards: ERC-8004 registration, plugin manifest, API catalog, list of skills."""

from typing import Any

from contracts.canonical import sha256_hex
from contracts.connect.server import MCP_PATH, PROTOCOL_VERSIONS
from contracts.discovery.agent_card import API_V2_PATH
from contracts.discovery.capabilities import is_live, live_ones
from contracts.discovery.installation import Installation
from contracts.discovery.service import (
    AGENT_CARD_PATH,
    AI_CATALOG_PATH,
    CAPABILITIES_PATH,
    CONNECT_PAGE_PATH,
    HEALTH_PATH,
    ICON_PATH,
    LLMS_PATH,
    OPENAPI_PATH,
    OPENAPI_V2_PATH,
    PUBLIC_CONTRACT_PATH,
    REGISTRATION_PATH,
    SERVER_CARD_MEDIA_TYPE,
    SERVER_CARD_PATH,
    SERVICE_DESCRIPTION,
    SERVICE_ID,
    SERVICE_NAME,
    SERVICE_SHORT_NAME,
    SERVICE_SUMMARY,
    SKILL_PATH,
    X402_PATH,
)
from contracts.discovery.texts import SKILL_DESCRIPTION, SKILL_NAME, skill_md
from contracts.intake.links import artifact_url
from contracts.open_data.names import DATA_PREFIX

REGISTRATION_TYPE = "https://eips.ethereum.org/EIPS/eip-8004#registration-v1"
SKILLS_SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"


def erc8004_registration(installation: Installation) -> dict[str, Any]:
    """Builds the registration file of ERC-8004. Its empty list states that the service is in no identity registry.

    Our trust registry is a different contract, so the file claims no kind of trust.
    """
    return {
        "type": REGISTRATION_TYPE,
        "name": SERVICE_NAME,
        "description": SERVICE_DESCRIPTION,
        "image": installation.url(ICON_PATH),
        "services": [{"name": "MCP", "endpoint": installation.url(MCP_PATH), "version": PROTOCOL_VERSIONS[0]}],
        "x402Support": is_live(installation, "payment_signature"),
        "active": True,
        "registrations": [],
        "supportedTrust": [],
    }


def ai_plugin(installation: Installation) -> dict[str, Any]:
    """Builds the plugin manifest (v1, retired in 2024, still requested). Without a contact, its address is empty."""
    offered = " ".join(f"{capability.title}: {capability.description}" for capability in live_ones(installation))
    return {
        "schema_version": "v1",
        "name_for_human": SERVICE_SHORT_NAME,
        "name_for_model": SERVICE_ID,
        "description_for_human": SERVICE_SUMMARY,
        "description_for_model": f"{SERVICE_DESCRIPTION} Available here: {offered} Public operations need no "
        "key; API v2 accepts a key as Bearer token or X-Api-Key, as the OpenAPI description specifies.",
        "auth": {"type": "none"},
        "api": {"type": "openapi", "url": installation.url(OPENAPI_PATH)},
        "logo_url": installation.url(ICON_PATH),
        "contact_email": installation.contact_email or "",
        "legal_info_url": artifact_url(installation.base_url, "registration-contract"),
    }


def api_catalog(installation: Installation) -> dict[str, Any]:
    """Builds the API catalog (RFC 9727) as a linkset (RFC 9264): the whole API, API v2, and the MCP server."""

    def link(path: str, media_type: str) -> dict[str, str]:
        return {"href": installation.url(path), "type": media_type}

    described = [
        link(LLMS_PATH, "text/markdown"),
        link(DATA_PREFIX, "application/json"),
        link(CAPABILITIES_PATH, "application/json"),
        link(PUBLIC_CONTRACT_PATH, "application/json"),
        link(REGISTRATION_PATH, "application/json"),
        link(AGENT_CARD_PATH, "application/json"),
        link(X402_PATH, "application/json"),
        link(AI_CATALOG_PATH, "application/ai-catalog+json"),
    ]
    page = [link(CONNECT_PAGE_PATH, "text/html")]
    status = [link(HEALTH_PATH, "application/json")]
    return {
        "linkset": [
            {
                "anchor": installation.url("/"),
                "service-desc": [link(OPENAPI_PATH, "application/json")],
                "service-doc": page,
                "service-meta": described,
                "status": status,
            },
            {
                "anchor": installation.url(API_V2_PATH),
                "service-desc": [link(OPENAPI_V2_PATH, "application/yaml")],
                "service-doc": page,
                "status": [link(f"{API_V2_PATH}/health", "application/json")],
            },
            {
                "anchor": installation.url(MCP_PATH),
                "service-desc": [link(SERVER_CARD_PATH, SERVER_CARD_MEDIA_TYPE)],
                "service-doc": page,
                "status": status,
            },
        ]
    }


def agent_skills(installation: Installation) -> dict[str, Any]:
    """Builds the list of skills (discovery 0.2.0) with the digest of the served skill."""
    return {
        "$schema": SKILLS_SCHEMA,
        "skills": [
            {
                "name": SKILL_NAME,
                "type": "skill-md",
                "description": SKILL_DESCRIPTION,
                "url": installation.url(SKILL_PATH),
                "digest": f"sha256:{sha256_hex(skill_md(installation))}",
            }
        ],
    }
