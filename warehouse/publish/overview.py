"""Composes documents from others (site metrics, context). Each value is copied from the document that owns it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import duckdb

from contracts.base import Quality, unpublished
from contracts.bidwall import ETH_PRICE_PATH
from contracts.discovery.service import SERVICE_DESCRIPTION, SERVICE_NAME
from contracts.publish.overview import (
    NO_GRAPH,
    NOT_CONFIGURED,
    ContextBidwall,
    ContextGraph,
    ContextHolders,
    ContextPrice,
    ContextSnapshot,
    ContextTrust,
    Metric,
    NextStep,
    OverviewMode,
    PublishedPath,
    ServiceContext,
    SiteMetrics,
    SiteMetricValues,
    Sourced,
)
from contracts.publish.projection import Fields, Projection
from contracts.publish.registry import PROJECTIONS
from contracts.publish.rendering import fields_of, stale_after_of
from contracts.world.ontology import DOMAINS
from warehouse.document_context import DocumentContext
from warehouse.duck.rows import aware_utc
from warehouse.publish.readers import read
from warehouse.statements import read_sql
from warehouse.token.holder_status import known_token
from warehouse.token.holders import first_row

HOLDERS, PRICE, ETH = "/api/token/holders", "/api/token/price", ETH_PRICE_PATH
BIDWALL, TRUST, GRAPH = "/api/bidwall/balance", "/api/v2/trust/protocol", "/api/worldmodel/live"
NOT_TOLD = "not_told"
"""The reason given for a figure that is missing in a document which has others: its source does not provide it, or not
yet."""

PARTS = (HOLDERS, PRICE, ETH, BIDWALL, TRUST)
"""Paths of the input documents."""


@dataclass(frozen=True)
class _Graph:
    """The graph's public counts at a revision, which is a sequence number of the ledger."""

    nodes: int
    edges: int
    revision: int
    domains: dict[str, int]


Contents = Mapping[str, tuple[Projection, Fields]]


def _contents(context: DocumentContext) -> Contents:
    """Returns the content of each input document by path, read once per generation."""
    return context.remembered(
        "contents of the overview",
        lambda: {row.path: (row, fields_of(read(row, context))) for row in PROJECTIONS if row.path in PARTS},
    )


def read_site_metrics(context: DocumentContext) -> SiteMetrics:
    """Reads all live numbers."""
    contents = _contents(context)
    graph = _graph(context.connection)

    def metric(path: str, name: str, unit: str, **own: Any) -> Metric:
        part, value = _part(contents, path) | own, _value(contents, path, name)
        if value is None and part["reason"] is None:
            part |= {"quality": Quality.UNAVAILABLE, "reason": NOT_TOLD}
        return Metric(**part, value=value, unit=unit)

    traded = {name: _value(contents, PRICE, f"trades_{name}") for name in ("quality", "reason")}
    counted, totals = _graph_part(graph), _value(contents, TRUST, "totals")
    metrics = SiteMetricValues(
        holders=metric(HOLDERS, "holder_count", "holders"),
        price_usd=metric(PRICE, "price", "USD"),
        market_cap_usd=metric(PRICE, "mcap", "USD"),
        volume_24h_usd=metric(PRICE, "volume_24h", "USD", **traded),
        eth_usd=metric(ETH, "price", "USD"),
        contract_balance_wei=metric(BIDWALL, "balance_wei", "wei"),
        trust_attestations=Metric(**_part(contents, TRUST), value=totals and totals.attestations, unit="attestations"),
        trust_agents=Metric(**_part(contents, TRUST), value=totals and totals.agents, unit="agents"),
        graph_nodes=Metric(**counted, value=graph and graph.nodes, unit="nodes"),
        graph_edges=Metric(**counted, value=graph and graph.edges, unit="edges"),
    )
    return SiteMetrics(
        **_freshness(contents, [getattr(metrics, name) for name in SiteMetricValues.model_fields]),
        ledger_seq=graph and graph.revision,
        node_count=graph and graph.nodes,
        edge_count=graph and graph.edges,
        domain_counts=graph and graph.domains,
        metrics=metrics,
    )


def read_context(context: DocumentContext) -> ContextSnapshot:
    """Reads the context that an agent starts with."""
    contents = _contents(context)
    graph = _graph(context.connection)
    status = first_row(context.connection, read_sql("holder_status"))
    consistency = _value(contents, HOLDERS, "consistency")
    concentration = _value(contents, HOLDERS, "concentration")
    trigger = _value(contents, BIDWALL, "trigger")
    totals = _value(contents, TRUST, "totals")
    parts: dict[str, Sourced] = {
        "holders": ContextHolders(
            **_part(contents, HOLDERS),
            holder_count=_value(contents, HOLDERS, "holder_count"),
            block=consistency and consistency.block,
            proof=consistency and consistency.proof.verdict,
            top10_share=concentration and concentration.top10_share,
            total_supply=_value(contents, HOLDERS, "total_supply"),
        ),
        "price": ContextPrice(
            **_part(contents, PRICE),
            price_usd=_value(contents, PRICE, "price"),
            change_24h=_value(contents, PRICE, "change_24h"),
            market_cap_usd=_value(contents, PRICE, "mcap"),
        ),
        "bidwall": ContextBidwall(
            **_part(contents, BIDWALL),
            balance_wei=_value(contents, BIDWALL, "balance_wei"),
            progress=trigger and trigger.progress,
        ),
        "trust": ContextTrust(
            **_part(contents, TRUST),
            attestations=totals and totals.attestations,
            agents=totals and totals.agents,
        ),
        "graph": ContextGraph(
            **_graph_part(graph),
            node_count=graph and graph.nodes,
            edge_count=graph and graph.edges,
            revision=graph and graph.revision,
        ),
    }
    return ContextSnapshot(
        **_freshness(contents, list(parts.values())),
        mode=_mode(list(parts.values())),
        network=_network(status),
        token=known_token(context.connection),
        **parts,
        next=_NEXT,
    )


def read_service_context(context: DocumentContext) -> ServiceContext:
    """Reads the description of the service and its documents, which changes only with the settings."""
    status = first_row(context.connection, read_sql("holder_status"))
    return ServiceContext(
        schema_="svc.context.v1",
        name=SERVICE_NAME,
        description=SERVICE_DESCRIPTION,
        base_url=context.base_url,
        openapi=f"{context.base_url}/openapi.json",
        network=_network(status),
        token=status and status[1],
        domains=list(DOMAINS),
        live=_NEXT,
        documents=[
            PublishedPath(path=row.path, summary=row.summary, media_type=row.media_type, max_age_s=row.max_age_s)
            for row in sorted(PROJECTIONS, key=lambda row: row.path)
            if row.collection is None
        ],
    )


_NEXT = [
    NextStep(name="All live metrics", path="/api/site-metrics"),
    NextStep(name="Context snapshot", path="/api/context"),
    NextStep(name="Holders with their proof", path=HOLDERS),
    NextStep(name="Events", path="/hodlers-care/feed.json"),
    NextStep(name="OpenAPI description", path="/openapi.json"),
]


def _part(contents: Contents, path: str) -> dict[str, Any]:
    """Returns the fields of a `Sourced` for the document at `path`."""
    projection, fields = contents[path]
    return {
        "source": fields["source"],
        "quality": fields["quality"],
        "reason": fields["reason"],
        "observed_at": aware_utc(fields["observed_at"]),
        "stale_after": stale_after_of(projection, fields),
        "stale": fields.get("stale", False),
        "document": path,
    }


def _graph_part(graph: _Graph | None) -> dict[str, Any]:
    return {
        "source": None if graph is None else "ledger",
        "quality": Quality.UNAVAILABLE if graph is None else Quality.EXACT,
        "reason": NO_GRAPH if graph is None else None,
        "observed_at": None,
        "stale_after": None,
        "stale": False,
        "document": GRAPH,
    }


def _value(contents: Contents, path: str, name: str) -> Any:
    return contents[path][1][name]


def _freshness(contents: Contents, parts: list[Any]) -> dict[str, Any]:
    """Combines the parts that have a value: the worst quality, the oldest reading, the earliest end of freshness."""
    there = [part for part in parts if part.quality is not Quality.UNAVAILABLE]
    missing = [part for part in parts if part.quality is Quality.UNAVAILABLE and part.reason not in _OFF]
    fetched = [
        fetched_at
        for path in {part.document for part in there} & set(contents)
        if (fetched_at := aware_utc(contents[path][1]["fetched_at"])) is not None
    ]
    observed = [part.observed_at for part in there if part.observed_at is not None]
    old = [part for part in there if part.stale]
    late = [part.stale_after for part in there if part.stale_after is not None]
    return unpublished(
        source="warehouse" if there else None,
        quality=max((part.quality for part in there), key=list(Quality).index, default=Quality.UNAVAILABLE),
        reason=next((part.reason for part in [*old, *missing] if part.reason), None) if there else "no_data",
        observed_at=min(observed, default=None),
        fetched_at=min(fetched, default=None),
        stale_after=min(late, default=None) if fetched else None,
        stale=bool(old),
    )


_OFF = (NOT_CONFIGURED, NO_GRAPH)
"""Reasons that reflect an operator's choice or a normal state of the service, not a failure."""


def _mode(parts: list[Sourced]) -> OverviewMode:
    there = [part for part in parts if part.quality is not Quality.UNAVAILABLE]
    whole = all(part.quality is not Quality.UNAVAILABLE or part.reason in _OFF for part in parts)
    return OverviewMode.LIVE if there and whole and not any(part.stale for part in there) else OverviewMode.FALLBACK


def _graph(connection: duckdb.DuckDBPyConnection) -> _Graph | None:
    rows = connection.execute(read_sql("graph_counts")).fetchall()
    if not rows:
        return None
    return _Graph(
        sum(nodes for _, nodes, _, _ in rows),
        sum(edges for _, _, edges, _ in rows),
        max(revision for *_, revision in rows),
        {domain: nodes for domain, nodes, _, _ in rows},
    )


def _network(status: tuple[Any, ...] | None) -> str | None:
    return None if status is None else f"eip155:{status[0]}"
