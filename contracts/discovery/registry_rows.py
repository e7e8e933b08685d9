"""The discovery documents of this package, one row each: name, path, wording, and what makes it of an installation.

The signed card and the capability registry need more than the installation: `warehouse/discovery/probes.py` reads them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from contracts.discovery import service
from contracts.discovery.encoding import document_bytes
from contracts.discovery.installation import Installation
from contracts.discovery.manifests import agent_skills, ai_plugin, api_catalog, erc8004_registration
from contracts.discovery.mcp import ai_catalog, server_card
from contracts.discovery.public_contract import PublicContract, public_contract
from contracts.discovery.registration import (
    REQUEST_SCHEMA,
    RegistrationContract,
    intake_request_schema,
    registration_contract,
)
from contracts.discovery.registry import CapabilityRegistry
from contracts.discovery.schemas import SCHEMA_DIALECT, schema_path
from contracts.discovery.x402 import x402_manifest, x402_metadata


@dataclass(frozen=True)
class DiscoveryDocument:
    """One document. `make` gives the fields of `model`, or a whole JSON document where its shape is somebody else's;
    None where it is read elsewhere."""

    name: str
    path: str
    summary: str
    description: str
    make: Callable[[Installation], dict[str, Any]] | None
    model: type[BaseModel] | None = None
    media_type: str = "application/json"
    aliases: tuple[str, ...] = ()

    def content(self, installation: Installation) -> dict[str, Any] | bytes:
        """Fields, or bytes where there is no model."""
        assert self.make is not None, f"{self.name} is made of more than the installation"
        made = self.make(installation)
        return document_bytes(made) if self.model is None else made


def _schema(name: str, model: type[BaseModel]) -> Callable[[Installation], dict[str, Any]]:
    def make(installation: Installation) -> dict[str, Any]:
        schema = model.model_json_schema(by_alias=True, mode="serialization")
        return {"$schema": SCHEMA_DIALECT, "$id": installation.url(schema_path(name)), **schema}

    return make


AGENT_CARD = DiscoveryDocument(
    name="agent_card",
    path=service.AGENT_CARD_PATH,
    summary="Agent card",
    description="The A2A 1.0 agent card, signed by a key of the key set. A skill is what can be used here by the "
    "settings. No A2A transport is run.",
    make=None,
    aliases=(service.AGENT_PATH,),
)
CAPABILITY_REGISTRY = DiscoveryDocument(
    name="capability_registry",
    path=service.CAPABILITIES_PATH,
    summary="Capability registry",
    description="Every capability with its status `live`, `planned` or `off`, why, who determined it and when.",
    make=None,
    model=CapabilityRegistry,
)

DISCOVERY_DOCUMENTS: tuple[DiscoveryDocument, ...] = (
    AGENT_CARD,
    CAPABILITY_REGISTRY,
    DiscoveryDocument(
        name="mcp_discovery",
        path=service.MCP_JSON_PATH,
        summary="MCP discovery",
        description="The server card of the MCP endpoint, at the path where clients have long looked for it.",
        make=server_card,
    ),
    DiscoveryDocument(
        name="mcp_server_card",
        path=service.SERVER_CARD_PATH,
        summary="MCP server card",
        description="Who the MCP server is and how to reach it (SEP-2127). What tools it has, it says itself.",
        make=server_card,
        media_type=service.SERVER_CARD_MEDIA_TYPE,
    ),
    DiscoveryDocument(
        name="ai_catalog",
        path=service.AI_CATALOG_PATH,
        summary="AI catalog",
        description="The server card, the agent card, the skill and the API, each with its media type.",
        make=ai_catalog,
        media_type=service.AI_CATALOG_MEDIA_TYPE,
    ),
    DiscoveryDocument(
        name="x402_manifest",
        path=service.X402_PATH,
        summary="Payment manifest",
        description="What can be paid and how: a receipt on the chain is verified where that is set up, settlement by "
        "payment signature is planned.",
        make=x402_manifest,
    ),
    DiscoveryDocument(
        name="x402_metadata",
        path=service.X402_METADATA_PATH,
        summary="Payment kinds",
        description="Kinds of payment as an x402 facilitator lists them: none is settled by signature yet.",
        make=x402_metadata,
    ),
    DiscoveryDocument(
        name="public_contract",
        path=service.PUBLIC_CONTRACT_PATH,
        summary="Public contract",
        description="What the service is in the words that hold: seven domains, the validator, where live counts are, "
        "and which older terms are superseded.",
        make=public_contract,
        model=PublicContract,
    ),
    DiscoveryDocument(
        name="registration_contract",
        path=service.REGISTRATION_PATH,
        summary="Agent-assisted registration",
        description="Ways to register with their steps, endpoints and consent rules, and the request's JSON Schema.",
        make=registration_contract,
        model=RegistrationContract,
    ),
    DiscoveryDocument(
        name="erc8004_registration",
        path=service.ERC8004_PATH,
        summary="ERC-8004 registration file",
        description="The service as ERC-8004 describes agents. It is in no identity registry.",
        make=erc8004_registration,
    ),
    DiscoveryDocument(
        name="ai_plugin",
        path=service.AI_PLUGIN_PATH,
        summary="Plugin manifest",
        description="The plugin manifest v1 for runtimes that still ask for it.",
        make=ai_plugin,
    ),
    DiscoveryDocument(
        name="api_catalog",
        path=service.API_CATALOG_PATH,
        summary="API catalog",
        description="Where the APIs are described (RFC 9727), as a linkset.",
        make=api_catalog,
        media_type=service.API_CATALOG_MEDIA_TYPE,
    ),
    DiscoveryDocument(
        name="agent_skills",
        path=service.AGENT_SKILLS_PATH,
        summary="Agent skills",
        description="The skill with the digest of its bytes.",
        make=agent_skills,
    ),
    *(
        DiscoveryDocument(
            name=f"schema_{name.replace('-', '_')}",
            path=schema_path(name),
            summary=f"JSON Schema: {summary}",
            description=f"The JSON Schema 2020-12 of {summary}.",
            make=make,
            media_type=service.SCHEMA_MEDIA_TYPE,
        )
        for name, summary, make in (
            (
                "svc-base-capabilities",
                "the capability registry",
                _schema("svc-base-capabilities", CapabilityRegistry),
            ),
            ("svc-public-contract", "the public contract", _schema("svc-public-contract", PublicContract)),
            (
                "svc-agent-registration",
                "the registration contract",
                _schema("svc-agent-registration", RegistrationContract),
            ),
            (REQUEST_SCHEMA, "a registration request", intake_request_schema),
        )
    ),
)
