"""Builds the public contract: the service's stable terms, and the addresses of its live numbers instead of numbers."""

from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, get_args

import yaml
from pydantic import Field

from contracts.base import Document
from contracts.discovery.capabilities import Status, capability_states
from contracts.discovery.installation import Installation
from contracts.discovery.schemas import schema_path
from contracts.discovery.service import CAPABILITIES_PATH, OPENAPI_PATH, SERVICE_DESCRIPTION, SERVICE_NAME, X402_PATH
from contracts.world.ontology import load_ontology
from contracts.world.proposal import StageName

CONTRACT_FILE = Path(__file__).with_name("public_contract.yaml")
SCHEMA_ID: Final = "svc.public_contract.v1"


class NamedText(Document):
    """A name with its meaning."""

    name: str
    description: str


class Validator(Document):
    """The validator that every change of the graph passes."""

    stages: list[NamedText] = Field(description="All seven, in their order")
    verdicts: list[NamedText]


class LiveCount(Document):
    """The address of a live number."""

    name: str
    url: str
    field: str = Field(description="JSON pointer into the answer's body")


class LegacyTerm(Document):
    """A term of older descriptions, and its replacement."""

    term: str
    superseded_by: str
    note: str


class CapabilityLists(Document):
    """Ids of capabilities by their state according to the settings. The registry states whether a live one answers."""

    live: list[str]
    planned: list[str]
    off: list[str]


class PublicContract(Document):
    """The terms on which everybody who describes the service or builds on it may rely."""

    ok: Literal[True] = True
    schema_: Literal["svc.public_contract.v1"] = Field(alias="schema")
    schema_url: str
    title: str
    summary: str
    service: str
    description: str
    base_url: str
    network: str = Field(description="CAIP-2 chain id")
    domains: list[NamedText] = Field(description="The seven domains of the graph")
    validator: Validator
    live_counts: list[LiveCount] = Field(description="Addresses of counts; no count is stated here")
    legacy_terms: list[LegacyTerm]
    rules: list[NamedText]
    capabilities: CapabilityLists = Field(description="By the settings")
    capabilities_url: str
    payment_url: str
    openapi: str


def public_contract(installation: Installation) -> PublicContract:
    """Builds the public contract, with the state of every capability."""
    texts = _texts()
    states = capability_states(installation).items()

    def standing(status: Status) -> list[str]:
        return [id_ for id_, state in states if state.status is status]

    return PublicContract(
        schema_=SCHEMA_ID,
        schema_url=installation.url(schema_path("svc-public-contract")),
        title=texts["title"],
        summary=texts["summary"],
        service=SERVICE_NAME,
        description=SERVICE_DESCRIPTION,
        base_url=installation.base_url,
        network=installation.network,
        domains=_named_texts(load_ontology().domains),
        validator=Validator(
            stages=_named_texts({stage: texts["validator"][stage] for stage in get_args(StageName)}),
            verdicts=_named_texts(texts["verdicts"]),
        ),
        live_counts=[
            LiveCount(name=name, url=installation.url(path), field=field) for name, path, field in LIVE_COUNTS
        ],
        legacy_terms=[LegacyTerm(**term) for term in texts["legacy_terms"]],
        rules=_named_texts(texts["rules"]),
        capabilities=CapabilityLists(
            live=standing(Status.LIVE), planned=standing(Status.PLANNED), off=standing(Status.OFF)
        ),
        capabilities_url=installation.url(CAPABILITIES_PATH),
        payment_url=installation.url(X402_PATH),
        openapi=installation.url(OPENAPI_PATH),
    )


_METRICS = "/api/site-metrics"

LIVE_COUNTS = (
    ("graph_nodes", _METRICS, "/nodeCount"),
    ("graph_edges", _METRICS, "/edgeCount"),
    ("graph_nodes_by_domain", _METRICS, "/domainCounts"),
    ("graph_nodes_now", "/api/v2/health", "/data/graph/nodeCount"),
    ("holders", "/api/token/holders", "/holderCount"),
    ("price_usd", "/api/token/price", "/data/price"),
    ("registrations", "/api/intake/stats", "/byLane"),
)
"""Name, path, and JSON pointer of each live number."""


@cache
def _texts() -> dict[str, Any]:
    texts: dict[str, Any] = yaml.load(CONTRACT_FILE.read_text(), yaml.CSafeLoader)
    return texts


def _named_texts(texts: dict[str, str]) -> list[NamedText]:
    return [NamedText(name=name, description=text) for name, text in texts.items()]
