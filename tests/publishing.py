"""A small house to publish from and to serve: literal transfers, a proven list, generations, and a client of the
API."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from holder_rows import TOKEN, FakeToken, Row, address, put_transfers
from shared_state import copied, copy_with_links

from api.app import create_app
from api.publish.front import Front
from contracts.discovery.installation import installation_of
from contracts.publish.projection import Content, Projection, Redirect
from contracts.publish.registry import PROJECTIONS
from contracts.settings import Settings
from contracts.token.holder_documents import ConsistencyLevel, Token
from contracts.token.holders import ZERO_ADDRESS
from pipelines import initial_publish
from pipelines.publish import assets
from pipelines.publish.documents import document_parts, published_document, site_parts
from pipelines.publish.generation import PublishReport, publish, republish_stale
from pipelines.publish.site import route_table
from pipelines.token.holder_lists import take_list
from warehouse.duck.connection import Warehouse
from warehouse.publish.generations import begin, build
from warehouse.publish.readers import context_for
from warehouse.token.fold import fold_balances
from warehouse.token.holder_status import record_status

NOON = datetime(2026, 1, 2, 12, 0, 0, tzinfo=UTC)
BASE_URL = "https://svc.example"
DOCUMENTS = ("/api/token/holders", "/api/token/holders-map", "/api/token/holders-map-temporal")
"""The holder documents, which `read_chain` fills."""
PUBLISHED = tuple(path for row in PROJECTIONS for path, _ in row.bodies)
AGEING = tuple(path for row in PROJECTIONS if row.freshness for path, _ in row.bodies)

READ = tuple(row.path for row in PROJECTIONS if row.describe is None)
"""All documents except those that render others, including 300 pages, which take longer than the rest."""
FEW = ("/api/token/holders", "/llms.txt", "/.well-known/agent-card.json")


def commands_publish(patch: pytest.MonkeyPatch, *paths: str) -> None:
    """Makes commands in this process publish only the documents at `paths`, which takes a fifth of the CPU."""
    rows = [row for row in PROJECTIONS if row.path in paths]
    patch.setattr(initial_publish, "publish", partial(publish, projections=rows))


def runs_publish(patch: pytest.MonkeyPatch, *paths: str) -> None:
    """Does the same for runs of the chain in this process."""
    rows = [row for row in PROJECTIONS if row.path in paths]
    patch.setattr(assets, "publish", partial(publish, projections=rows))


def mint(holders: int, first: int = 1, block: int = 10) -> list[Row]:
    """Returns a mint to each of `holders` addresses, all of different amounts."""
    return [(block, ZERO_ADDRESS, address(number), 1000 + number) for number in range(first, first + holders)]


class House:
    """One data directory with its warehouse. Each publication is dated a minute after the last, so none has to wait."""

    def __init__(self, data_dir: Path, **settings: Any) -> None:
        defaults: dict[str, Any] = {"base_url": BASE_URL, "data_dir": data_dir, "_env_file": None}
        self.settings = Settings(**(defaults | settings))
        self.data_dir = data_dir
        self.warehouse = Warehouse(data_dir)
        self.now = NOON
        self.rows: list[Row] = []
        self._served: tuple[Path, Settings, Front] | None = None
        self.token = Token(address=TOKEN, name="Token", symbol="TKN", decimals=2)

    def copied(self, data_dir: Path) -> House:
        """Returns a copy of the state in another directory, to continue from."""
        copy_with_links(self.data_dir, data_dir)
        other = copy(self)
        other.settings = self.settings.model_copy(update={"data_dir": data_dir})
        other.data_dir, other.rows = data_dir, list(self.rows)
        other.warehouse = Warehouse(data_dir)
        return other

    def read_chain(self, rows: Iterable[Row], upto: int) -> None:
        """Folds `rows` up to block `upto`, and stores a proven list there as a snapshot."""
        fresh = list(rows)
        self.rows += fresh
        token = self.token
        with self.warehouse.connect() as connection:
            put_transfers(connection, fresh, upto)
            fold_balances(connection)
            record_status(connection, chain_id=8453, token=token, start_block=0, finalized_block=upto, now=self.now)
            asyncio.run(
                take_list(
                    connection,
                    FakeToken(self.rows, head=upto),
                    self.data_dir,
                    token=token,
                    level=ConsistencyLevel.FINALIZED,
                    snapshot_reason="demand",
                    now=self.now,
                )
            )

    def publish(self, *paths: str, unmoved: Collection[Projection] | None = None) -> PublishReport:
        """Publishes a generation of the documents at `paths`, by default of all, which takes five times as long."""
        self.now += timedelta(minutes=1)
        rows = [row for row in PROJECTIONS if not paths or row.path in paths]
        with self.warehouse.connect() as connection:
            context = context_for(connection, self.settings)
            return publish(context, self.settings, projections=rows, unmoved=unmoved, now=self.now)

    def publish_rows(
        self, contents: Mapping[Projection, Mapping[str, Content]], redirects: Iterable[Redirect] = ()
    ) -> None:
        """Publishes a generation of only the given rows, each with its contents by path."""
        self.now += timedelta(minutes=1)
        draft = begin(self.data_dir, self.now)
        documents = [
            published_document(row, content, draft, path=path)
            for row, bodies in contents.items()
            for path, content in bodies.items()
        ]
        table = route_table(installation_of(self.settings), contents, redirects)
        parts = document_parts(documents) | site_parts(table, f"{self.settings.host}:{self.settings.port}")
        entries = {document.path: document.entry for document in documents}
        build(self.data_dir, draft, parts, entries, self.settings.public_base_url)

    def republish_stale(
        self, reason: str = "check_failed", projections: Iterable[Projection] = PROJECTIONS
    ) -> PublishReport:
        self.now += timedelta(minutes=1)
        return republish_stale(self.settings, reason, projections=projections, now=self.now)

    @property
    def application(self) -> Front:
        """The API: one application for all requests to a generation."""
        if self._served is None or self._served[:2] != (self.current, self.settings):
            self._served = (self.current, self.settings, create_app(self.settings))
        return self._served[2]

    @property
    def current(self) -> Path:
        return (self.data_dir / "current").resolve()

    def client(self, *, application: Front | None = None, peer: str = "192.0.2.1") -> httpx.AsyncClient:
        """Returns a client whose requests come from `peer` and have no headers of its own."""
        transport = httpx.ASGITransport(
            application or self.application, raise_app_exceptions=False, client=(peer, 50000)
        )
        client = httpx.AsyncClient(transport=transport, base_url=BASE_URL)
        client.headers.clear()
        return client


ONE_LIST = ((mint(70), 20),)
TWO_LISTS = ((mint(70), 20), (mint(5, first=71, block=30), 40))
"""Transfers, and the block up to which they are read: 70 holders with a proven list, and 75 with two."""


def published_house(data_dir: Path, history: Sequence[tuple[list[Row], int]] = TWO_LISTS, **settings: Any) -> House:
    """Returns a house that has read `history` and published everything: a copy of the one that the run's first such
    test made."""

    def make(place: Path) -> House:
        house = House(place, **settings)
        for rows, upto in history:
            house.read_chain(rows, upto)
        house.publish()
        return house

    copied(f"a published house {history} {sorted(settings.items())}", make, data_dir)
    house = House(data_dir, **settings)
    house.now += timedelta(minutes=1)
    house.rows = [row for rows, _ in history for row in rows]
    return house
