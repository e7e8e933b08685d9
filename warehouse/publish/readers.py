"""Reading what a published document is made of: one way in for publishing and for the API's variants.

A room's read function is named in `READERS`; every other document is one row of SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import msgspec
from pydantic import BaseModel

from contracts.bidwall import ETH_PRICE_PATH
from contracts.discovery.installation import Installation, installation_of
from contracts.discovery.openapi import Bodies, openapi_json, openapi_v2_yaml
from contracts.discovery.registry_rows import AGENT_CARD, CAPABILITY_REGISTRY, DISCOVERY_DOCUMENTS, DiscoveryDocument
from contracts.discovery.texts import (
    SECURITY,
    SITEMAP,
    TEXT_DOCUMENTS,
    TextDocument,
    connect_page_fields,
    security_txt,
    sitemap_xml,
)
from contracts.discovery.wallet_actions import actions_registry
from contracts.intake.artifacts import ARTIFACT_KINDS, SETTINGS
from contracts.publish.registry import PROJECTIONS, Projection
from contracts.publish.rendering import Content, Fields
from contracts.settings import Settings
from warehouse.access.signing_keys import SigningKeys
from warehouse.bidwall.contract_balance import read_bidwall_balance, read_bidwall_events, read_bidwall_snapshot
from warehouse.discovery.probes import PROBES, read_agent_card, read_registry
from warehouse.duck.inspection import tables_read
from warehouse.feed.events import read_feed
from warehouse.intake.statistics import read_artifact
from warehouse.publish.overview import PARTS as OVERVIEW_PARTS
from warehouse.publish.overview import compose_context, compose_site_metrics, read_service_context
from warehouse.statements import read_sql
from warehouse.token.holder_documents import read_holders_map, read_holders_temporal, read_token_holders
from warehouse.token.holder_lists import lists_dir
from warehouse.trust.attestations import read_trust_protocol
from warehouse.world.public_projection import read_world_live, read_world_render


@dataclass(frozen=True)
class Readable:
    """What a document may be read from: the `out_` tables, the directory of the holder lists they name, and what is
    public of the settings. Of variants that the API computes, only the installation's address is known."""

    connection: duckdb.DuckDBPyConnection
    holders_dir: Path
    installation: Installation
    bodies: Bodies = field(default_factory=dict)
    """What is published beside, by path, for documents that show it: those in `DESCRIBING`, and variants that show what
    is published more often than the tables that they are read from (`SHOWN_IN_VARIANTS`)."""

    @property
    def base_url(self) -> str:
        """The public address that documents name."""
        return self.installation.base_url


def readable_for(connection: duckdb.DuckDBPyConnection, settings: Settings) -> Readable:
    """What publishing reads from, with the signing keys. Raises `SettingsInvalid`, `StoreUnusable` on those."""
    installation = installation_of(settings, SigningKeys(settings).current())
    return Readable(connection, lists_dir(settings.data_dir), installation)


SHOWN_IN_VARIANTS = (ETH_PRICE_PATH,)
"""A minute's run publishes these, and leaves the query copy as it is."""

Read = Callable[[Readable, BaseModel | None], Content]
"""From stores and query parameters (None for the published default) to content. Raises `RequestProblem` on parameters
that fit their model and still name nothing."""


@dataclass(frozen=True)
class Reader:
    """A room's read function, and the questions (its statement) that it asks."""

    read: Read
    questions: tuple[str, ...]


@dataclass(frozen=True)
class Composer:
    """A read function that puts other documents together: their paths, and the questions that it asks beside."""

    compose: Callable[[Mapping[str, tuple[Projection, Fields]], Readable], Fields]
    parts: tuple[str, ...]
    questions: tuple[str, ...]


def _intake_artifact(name: str, questions: tuple[str, ...]) -> Reader:
    return Reader(lambda readable, _: read_artifact(name, readable), (SETTINGS, *questions))


def _discovery_document(document: DiscoveryDocument) -> Reader:
    return Reader(lambda readable, _: document.content(readable.installation), ())


def _text_document(document: TextDocument) -> Reader:
    make = document.make
    assert make is not None, f"{document.name} takes more than the installation"
    return Reader(lambda readable, _: make(readable.installation), ())


READERS: dict[str, Reader | Composer] = {
    **{each.name: _text_document(each) for each in TEXT_DOCUMENTS if each.make is not None},
    SECURITY.name: Reader(lambda readable, _: security_txt(readable.installation, datetime.now(UTC).date()), ()),
    SITEMAP.name: Reader(
        lambda readable, _: sitemap_xml(
            readable.installation, [row.path for row in PROJECTIONS if row.cache == "discovery"]
        ),
        (),
    ),
    "actions_registry": Reader(lambda readable, _: actions_registry(readable.installation), ()),
    "connect_page": Reader(lambda readable, _: connect_page_fields(readable.installation), ()),
    "icon": Reader(lambda *_: {}, ()),
    **{each.name: _discovery_document(each) for each in DISCOVERY_DOCUMENTS},
    AGENT_CARD.name: Reader(lambda readable, _: read_agent_card(readable), ()),
    CAPABILITY_REGISTRY.name: Reader(lambda readable, _: read_registry(readable), (PROBES,)),
    "site_metrics": Composer(compose_site_metrics, OVERVIEW_PARTS, ("graph_counts",)),
    "context": Composer(compose_context, OVERVIEW_PARTS, ("graph_counts", "holder_status")),
    "service_context": Reader(lambda readable, _: read_service_context(readable), ("holder_status",)),
    "event_feed": Reader(read_feed, ("feed_events",)),
    "openapi": Reader(lambda readable, _: openapi_json(readable.installation, readable.bodies), ()),
    "openapi_v2": Reader(lambda readable, _: openapi_v2_yaml(readable.installation, readable.bodies), ()),
    "bidwall_balance": Reader(read_bidwall_balance, ("bidwall_status",)),
    "bidwall_snapshot": Reader(read_bidwall_snapshot, ("bidwall_status", "bidwall_events", "bidwall_eth_usd")),
    "bidwall_events": Reader(read_bidwall_events, ("bidwall_status", "bidwall_events")),
    "trust_protocol": Reader(read_trust_protocol, ("trust_status",)),
    "world_live": Reader(
        lambda readable, _: read_world_live(readable.connection),
        ("graph_counts", "world_shown_nodes", "world_shown_edges"),
    ),
    "world_render": Reader(
        lambda readable, parameters: read_world_render(readable.connection, parameters),
        ("graph_counts", "world_shown_nodes", "world_shown_edges"),
    ),
    **{
        f"intake_{name.replace('-', '_')}": _intake_artifact(name, kind.questions)
        for name, kind in ARTIFACT_KINDS.items()
    },
    "token_holders": Reader(read_token_holders, ("holder_status", "holder_lists", "holder_sources")),
    "token_holders_map": Reader(read_holders_map, ("holder_status", "holder_lists")),
    "token_holders_map_temporal": Reader(read_holders_temporal, ("holder_status", "holder_lists")),
}
"""By the projection's name: documents that take more than one row of SQL."""


def read(projection: Projection, readable: Readable, parameters: BaseModel | None = None) -> Content:
    """The content of one document, by its room's function or by its statement.

    The SQL returns exactly one row whose columns are the model's fields; `JSON` columns are embedded as they are.
    """
    reader = READERS.get(projection.name)
    if isinstance(reader, Composer):
        contents: dict[str, tuple[Projection, Fields]] = {}
        for row in _parts_of(reader):
            content = read(row, readable)
            assert not isinstance(content, bytes), f"{row.name} has no fields to take"
            contents[row.path] = (row, content)
        return reader.compose(contents, readable)
    if reader is not None:
        return reader.read(readable, parameters)
    return read_row(readable.connection, read_sql(projection.name))


def read_row(connection: duckdb.DuckDBPyConnection, statement: str) -> Fields:
    """The one row of a question as fields. Raises `ValueError` on none or several."""
    cursor = connection.execute(statement)
    rows = cursor.fetchall()
    if len(rows) != 1:
        raise ValueError(f"a document is one row, and its question gave {len(rows)}")
    return {
        column[0]: msgspec.Raw(value.encode()) if column[1] == "JSON" and value is not None else value
        for column, value in zip(cursor.description or (), rows[0], strict=True)
    }


def tables_of(projection: Projection) -> set[str]:
    """The tables that a document's questions read: its lineage."""
    reader = READERS.get(projection.name)
    if reader is None:
        return set(tables_read(read_sql(projection.name)))
    asked = (tables_read(read_sql(question)) for question in reader.questions)
    parts = map(tables_of, _parts_of(reader) if isinstance(reader, Composer) else ())
    return set().union(*asked, *parts)


def _parts_of(composer: Composer) -> list[Projection]:
    return [row for row in PROJECTIONS if row.path in composer.parts]


def holder_list_blocks(readable: Readable) -> list[int]:
    """Blocks of the holder lists that can be read, whose files go with a generation."""
    return [block for (block,) in readable.connection.execute(read_sql("readable_list_blocks")).fetchall()]
