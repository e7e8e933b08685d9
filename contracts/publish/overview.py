"""Defines the documents that combine others: site metrics, the context snapshot, the description of the service."""

from enum import StrEnum
from typing import Literal

from pydantic import Field

from contracts.base import AddressText, DecimalAmount, Document, Quality, RawAmount, TelemetryDocument, Timestamp
from contracts.token.holder_documents import Token
from contracts.token.proof import Verdict

OVERVIEW_MAX_AGE_S = 900
"""The time for which a body is fresh if none of its parts has its own."""

NO_GRAPH = "no_graph"
"""The reason for missing graph counts before a graph exists."""

NOT_CONFIGURED = "not_configured"


class Sourced(Document):
    """The source of a number, as in the freshness block of the document that contains it in full."""

    source: str | None
    quality: Quality
    reason: str | None = Field(description="Why it is missing, degraded or stale, as a stable code")
    observed_at: Timestamp | None
    stale_after: Timestamp | None
    stale: bool = Field(description="Whether it is out of date; the whole is stale if any part is")
    document: str | None = Field(description="Path of the document with more details")


class Metric(Sourced):
    """One live number."""

    value: int | float | str | None = Field(description="Amounts of any size are decimal strings")
    unit: str


class SiteMetricValues(Document):
    """Every live number of the service, by name."""

    holders: Metric
    price_usd: Metric
    market_cap_usd: Metric
    volume_24h_usd: Metric = Field(alias="volume24hUsd")
    eth_usd: Metric
    contract_balance_wei: Metric
    trust_attestations: Metric
    trust_agents: Metric
    graph_nodes: Metric
    graph_edges: Metric


class SiteMetrics(TelemetryDocument):
    """All live metrics in one body. It is stale as soon as one of them is; each states until when it is fresh."""

    ledger_seq: int | None = Field(description="Ledger sequence number of the graph counts")
    node_count: int | None = Field(description="Public nodes of the graph")
    edge_count: int | None = Field(description="Edges among them")
    domain_counts: dict[str, int] | None = Field(description="Public nodes by domain")
    metrics: SiteMetricValues


class OverviewMode(StrEnum):
    """`live` if everything that is configured is fresh, `fallback` if something is missing or old."""

    LIVE = "live"
    FALLBACK = "fallback"


class ContextHolders(Sourced):
    """The holders of the token."""

    holder_count: int | None
    block: int | None
    proof: Verdict | None
    top10_share: float | None
    total_supply: DecimalAmount | None


class ContextPrice(Sourced):
    """The price of the token."""

    price_usd: DecimalAmount | None
    change_24h: float | None = Field(alias="change24h", description="Percent")
    market_cap_usd: float | None


class ContextBidwall(Sourced):
    """The watched contract."""

    balance_wei: RawAmount | None
    progress: float | None = Field(description="Balance / trigger, 0 to 1")


class ContextTrust(Sourced):
    """The trust registry."""

    attestations: int | None
    agents: int | None


class ContextGraph(Sourced):
    """The world model."""

    node_count: int | None
    edge_count: int | None
    revision: int | None


class NextStep(Document):
    """A further document."""

    name: str
    path: str


class ContextSnapshot(TelemetryDocument):
    """The main facts for an agent that starts here, in one body."""

    mode: OverviewMode = Field(
        description="`live`: everything configured is fresh; `fallback`: a part is missing or old, and states that"
    )
    network: str | None = Field(description="CAIP-2 chain id; null before the first run")
    token: Token | None
    holders: ContextHolders
    price: ContextPrice
    bidwall: ContextBidwall
    trust: ContextTrust
    graph: ContextGraph
    next: list[NextStep]


class PublishedPath(Document):
    """One published document."""

    path: str
    summary: str
    media_type: str
    max_age_s: int | None = Field(description="Seconds for which its content is fresh; null if it does not age")


class ServiceContext(Document):
    """A description of the service and its documents, for an agent that does not know it yet."""

    ok: Literal[True] = True
    schema_: Literal["svc.context.v1"] = Field(alias="schema")
    name: str
    description: str
    base_url: str
    openapi: str
    network: str | None = Field(description="CAIP-2 chain id; null before the first run")
    token: AddressText | None
    domains: list[str] = Field(description="The seven domains of the world model")
    live: list[NextStep] = Field(description="Addresses of live numbers; this document contains none")
    documents: list[PublishedPath]
