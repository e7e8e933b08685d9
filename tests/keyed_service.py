"""The API of one data directory with its own clock, keys for it, and an action that its guardrail blocks."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import httpx
from lasting_loop import LastingLoop
from ledger_process import MASTER_SECRET
from patient_providers import patient_providers
from pydantic import SecretStr

from api.app import App
from api.publish.front import Front
from contracts.access.signing import key_text, new_private_key
from contracts.access.tiers import Tier
from contracts.settings import Settings
from warehouse.access.keys import IssuedKey, create_key
from warehouse.ledger.counters import open_counters
from warehouse.ledger.ledger import open_ledger
from warehouse.ledger.master_secret import load_secrets

NOON_S = datetime(2026, 1, 2, 12, tzinfo=UTC).timestamp()
CHECK = "/api/v2/guardrail/check"
ACTION = {"action": "ls -la"}

DANGEROUS = "git reset --hard"
DANGEROUS_ROW = "lost-files.uncommitted-work"
"""The policy row that blocks the action above it."""


def with_secrets(settings: Settings) -> Settings:
    """Returns `settings` with the secrets that a start on PostgreSQL requires."""
    if settings.ledger_url is None:
        return settings
    signing_key_file = settings.data_dir / "signing.pem"
    if not signing_key_file.exists():
        signing_key_file.write_text(key_text(new_private_key()))
    given = {"master_secret": SecretStr(MASTER_SECRET), "signing_key_file": signing_key_file}
    return settings.model_copy(update=given)


class KeyedService:
    """Created by `serving`. `now_s` is the front's clock."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings = with_secrets(settings)
        self._loop = LastingLoop()
        self.now_s = NOON_S
        self.ledger = open_ledger(settings, settings.data_dir)
        self.pepper = load_secrets(settings).pepper
        self.counters = open_counters(settings, settings.data_dir)
        self.rooms = App(settings, lambda: None, self.counters, patient_providers(settings.rpc_urls))
        self.front = Front(
            settings,
            self.rooms,
            self.counters.take,
            take_waits=settings.ledger_url is not None,
            keys=self.rooms,
            clock=lambda: self.now_s,
        )
        self.rooms._application = self._loaded(self.rooms._load())  # type: ignore[method-assign]

    @staticmethod
    def _loaded(application: Any) -> Any:
        async def loaded() -> Any:
            return application

        return loaded

    @property
    def stores(self) -> Any:
        return self.rooms._stores

    @property
    def gate(self) -> Any:
        return self.rooms._gate

    def key(self, tier: Tier = Tier.FREE, owner: str = "local:test", **options: Any) -> IssuedKey:
        with self.ledger.transaction() as tx:
            return create_key(tx, self.pepper, tier=tier, owner=owner, now=datetime.now(UTC), **options)

    def change(self, step: Any, issued: IssuedKey) -> Any:
        with self.ledger.transaction() as tx:
            return step(tx, issued.record.key_id, now=datetime.now(UTC))

    def ask(self, *requests: tuple[str, str, dict[str, Any], dict[str, Any]]) -> list[httpx.Response]:
        """Returns the answers to `(method, path, headers, httpx options)`, in order, from one address."""

        async def answers() -> list[httpx.Response]:
            async with self._client() as client:
                return [await client.request(m, path, headers=headers, **rest) for m, path, headers, rest in requests]

        return self._loop.run(answers())

    def ask_at_once(self, *requests: tuple[str, str, dict[str, Any], dict[str, Any]]) -> list[httpx.Response]:
        """Returns the answers to requests that are all under way before the first is answered."""

        async def answers() -> list[httpx.Response]:
            async with self._client() as client:
                under_way = [client.request(m, path, headers=headers, **rest) for m, path, headers, rest in requests]
                return await asyncio.gather(*under_way)

        return self._loop.run(answers())

    def _client(self) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(self.front, raise_app_exceptions=False, client=("192.0.2.1", 50000))
        return httpx.AsyncClient(transport=transport, base_url="http://test")

    def check(self, headers: dict[str, Any], times: int = 1, **options: Any) -> list[httpx.Response]:
        """Runs guardrail checks, by default of a harmless action."""
        return self.ask(*[("POST", CHECK, headers, options or {"json": ACTION})] * times)

    def close(self) -> None:
        self._loop.close()
        self.gate.close()
        self.stores.close()
        self.counters.close()
        self.ledger.close()


@contextmanager
def serving(settings: Settings) -> Iterator[KeyedService]:
    service = KeyedService(settings)
    try:
        yield service
    finally:
        service.close()


def bearer(issued: IssuedKey) -> dict[str, Any]:
    return {"Authorization": f"Bearer {issued.key.reveal()}"}


def x_api_key(issued: IssuedKey) -> dict[str, Any]:
    return {"X-Api-Key": issued.key.reveal()}
