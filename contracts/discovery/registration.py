"""Builds the agent-assisted registration contract: ways to register, endpoints, consent rules, and the request."""

from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

import yaml
from pydantic import Field, TypeAdapter

from contracts.access.plans import CLAIM_PATH, PLANS_PATH, QUOTE_PATH, RECEIPT_PATH
from contracts.base import Document
from contracts.connect.server import FIRST_TOOL, MCP_PATH, PROTOCOL_VERSIONS
from contracts.discovery.capabilities import Status, capability_states, is_live, load_capabilities
from contracts.discovery.installation import Installation
from contracts.discovery.schemas import SCHEMA_DIALECT, schema_path
from contracts.discovery.service import CAPABILITIES_PATH, OPENAPI_PATH, SERVER_CARD_PATH
from contracts.intake.answers import CAPSULE_PATH, ERASE_PATH, INTAKE_PATH, STATUS_PATH
from contracts.intake.links import artifact_url
from contracts.intake.requests import CONSENT_VERSION, IntakeRequest

REGISTRATION_FILE = Path(__file__).with_name("registration.yaml")
SCHEMA_ID: Final = "svc.agent_registration.v1"
REQUEST_SCHEMA = "svc-intake-request"


class Step(Document):
    """One step of a way to register."""

    id: str
    text: str


class RegistrationMode(Document):
    """One way to register, its steps in order."""

    id: str
    title: str
    capability: str = Field(description="Its entry in the capability registry")
    status: Status = Field(description="According to the settings; the registry states whether it answers now")
    reason: str | None
    missing_settings: list[str]
    steps: list[Step] = Field(description="Empty if it is off")


class Endpoint(Document):
    """An endpoint of the registration."""

    name: str
    method: str
    url: str
    capability: str


class McpEndpoint(Document):
    """The MCP server that pairs."""

    url: str
    server_card: str
    protocol_versions: list[str]
    first_tool: str
    tools: list[str]
    codes: list[Literal["companion_application", "operator"]] = Field(
        description="Who issues pairing codes: the companion application's profile page, or this service's operator"
    )
    app_url: str | None = Field(description="The companion application")


class ConsentRule(Document):
    """One rule of consent."""

    id: str
    text: str


class ConsentRules(Document):
    """The rules of consent, and their published version."""

    version: str
    contract: str
    rules: list[ConsentRule]


class RequestSchema(Document):
    """The registration request as JSON Schema 2020-12."""

    url: str
    json_schema: dict[str, Any]


class RegistrationContract(Document):
    """The ways in which an assistant registers its person, an agent itself, or somebody an enterprise."""

    ok: Literal[True] = True
    schema_: Literal["svc.agent_registration.v1"] = Field(alias="schema")
    schema_url: str
    title: str
    summary: str
    modes: list[RegistrationMode]
    mcp: McpEndpoint
    endpoints: list[Endpoint]
    consent: ConsentRules
    request: RequestSchema
    capabilities_url: str
    openapi: str


def registration_contract(installation: Installation) -> RegistrationContract:
    """Builds the ways to register, without the endpoints of capabilities that are off."""
    texts = _texts()
    return RegistrationContract(
        schema_=SCHEMA_ID,
        schema_url=installation.url(schema_path("svc-agent-registration")),
        title=texts["title"],
        summary=texts["summary"],
        modes=[_mode(installation, id_, mode) for id_, mode in texts["modes"].items()],
        mcp=_mcp(installation),
        endpoints=[
            Endpoint(name=name, method=method, url=installation.url(path), capability=capability)
            for name, method, path, capability in _ENDPOINTS
            if is_live(installation, capability)
        ],
        consent=ConsentRules(
            version=CONSENT_VERSION,
            contract=artifact_url(installation.base_url, "registration-contract"),
            rules=[ConsentRule(id=id_, text=text) for id_, text in texts["consent"].items()],
        ),
        request=RequestSchema(
            url=installation.url(schema_path(REQUEST_SCHEMA)), json_schema=intake_request_schema(installation)
        ),
        capabilities_url=installation.url(CAPABILITIES_PATH),
        openapi=installation.url(OPENAPI_PATH),
    )


def intake_request_schema(installation: Installation) -> dict[str, Any]:
    """Builds the JSON Schema 2020-12 of the registration request, for every lane."""
    named = {"$schema": SCHEMA_DIALECT, "$id": installation.url(schema_path(REQUEST_SCHEMA)), "title": "IntakeRequest"}
    return {**named, **_request_schema()}


@cache
def _request_schema() -> dict[str, Any]:
    return TypeAdapter(IntakeRequest).json_schema(by_alias=True, mode="validation")


_ENDPOINTS = (
    ("mcp", "POST", MCP_PATH, "connect"),
    ("register", "POST", INTAKE_PATH, "intake"),
    ("status", "GET", STATUS_PATH, "intake"),
    ("capsule", "GET", CAPSULE_PATH, "intake"),
    ("erase", "POST", ERASE_PATH, "intake"),
    ("plans", "GET", PLANS_PATH, "plan_catalog"),
    ("quote", "POST", QUOTE_PATH, "paid_access"),
    ("claim", "POST", CLAIM_PATH, "paid_access"),
    ("receipt", "GET", RECEIPT_PATH, "paid_access"),
)
"""Name, method, path, and capability of each endpoint."""


def _mode(installation: Installation, id_: str, texts: dict[str, Any]) -> RegistrationMode:
    state = capability_states(installation)[texts["capability"]]
    return RegistrationMode(
        id=id_,
        title=texts["title"],
        capability=state.capability.id,
        status=state.status,
        reason=state.reason,
        missing_settings=list(state.missing),
        steps=[Step(id=step, text=text) for step, text in texts["steps"].items()] if state.live else [],
    )


def _mcp(installation: Installation) -> McpEndpoint:
    companion = is_live(installation, "companion_application")
    return McpEndpoint(
        url=installation.url(MCP_PATH),
        server_card=installation.url(SERVER_CARD_PATH),
        protocol_versions=list(PROTOCOL_VERSIONS),
        first_tool=FIRST_TOOL,
        tools=sorted({tool for capability in load_capabilities().values() for tool in capability.tools}),
        codes=["companion_application"] if companion else ["operator"],
        app_url=installation.app_url,
    )


@cache
def _texts() -> dict[str, Any]:
    texts: dict[str, Any] = yaml.load(REGISTRATION_FILE.read_text(), yaml.CSafeLoader)
    return texts
