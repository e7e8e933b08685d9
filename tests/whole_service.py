"""The whole service over one small history: published documents, a graph, keys, and payments on a chain in memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from claim_payments import TREASURY, USDC, Due, paying
from fake_providers import FakeChain, Provider
from holder_rows import TOKEN
from patience import HANG_S
from patient_providers import patient_providers
from publishing import House, mint
from pydantic import SecretStr
from shared_state import copied

from api.app import create_app
from contracts.access.tiers import Role, Tier
from contracts.settings import Settings
from warehouse.access.keys import create_key
from warehouse.ledger.ledger import open_ledger
from warehouse.ledger.master_secret import load_secrets

PAYER = "0x" + "aa" * 20
REGISTRY = "0x" + "7a" * 20
CONTRACT = "0x" + "b1" * 20
CONFIRMATIONS = 3


HISTORY = ((mint(64), 20), (mint(1, first=65, block=30), 40))
"""Transfers, and the block up to which they are read."""


def _soon() -> datetime:
    return datetime.now(UTC).replace(microsecond=0) + timedelta(minutes=10)


def _published(data_dir: Path, settings: dict[str, Any], documents: tuple[str, ...]) -> None:
    house = House(data_dir, **settings)
    house.now = _soon()
    for rows, upto in HISTORY:
        house.read_chain(rows, upto)
    house.publish(*documents)


def _key(settings: dict[str, Any], documents: tuple[str, ...]) -> str:
    """Names the published state, which is the same whatever the node."""
    secret = {name: value.get_secret_value() for name, value in settings.items() if isinstance(value, SecretStr)}
    return repr((sorted((settings | secret | {"rpc_urls": ()}).items()), documents))


class WholeService:
    """Created by `whole_service`."""

    def __init__(self, data_dir: Path, node: Provider, documents: Iterable[str], **settings: Any) -> None:
        self.node = node
        given: dict[str, Any] = {
            "rpc_urls": (node.url,),
            "usdc_address": USDC,
            "treasury_address": TREASURY,
            "claim_confirmations": CONFIRMATIONS,
            "token_address": TOKEN,
            "bidwall_address": CONTRACT,
            "trust_registry_address": REGISTRY,
            "master_secret": SecretStr("a secret of tests, long enough to be one"),
            "rate_limit_per_minute": 0,
            "host_name": "api-1",
        }
        given |= settings
        named = tuple(documents)
        if "base_url" in given:  # a port of its own
            _published(data_dir, given, named)
        else:
            copied(_key(given, named), lambda place: _published(place, given, named), data_dir)
        self.house = House(data_dir, **given)
        self.house.now = _soon()
        self.house.rows = [row for rows, _ in HISTORY for row in rows]
        self.app = create_app(self.settings, providers=patient_providers(self.settings.rpc_urls))

    @property
    def settings(self) -> Settings:
        return self.house.settings

    def key(self, tier: Tier = Tier.PRO, owner: str = "local:test", role: Role = Role.CALLER) -> str:
        """Creates a new API key."""
        ledger = open_ledger(self.settings, self.settings.data_dir)
        try:
            with ledger.transaction() as tx:
                pepper = load_secrets(self.settings).pepper
                issued = create_key(tx, pepper, tier=tier, owner=owner, role=role, now=datetime.now(UTC))
        finally:
            ledger.close()
        return issued.key.reveal()

    def pay(self, quote: dict[str, Any], *, bury: int = CONFIRMATIONS, less: int = 0) -> str:
        """Pays a quote on the chain, reduced by `less` units, and returns the transaction's hash."""
        said = quote["data"]["quote"]
        due = Due(said["payer"], said["payTo"], said["asset"], int(said["amount"]) - less)
        transaction = self.node.truth.send([paying(due)])
        if bury:
            self.mine(bury)
        return transaction

    def mine(self, blocks: int = 1) -> None:
        """Mines blocks on the chain, at the current time."""
        self.node.truth.mine(blocks, time_s=int(datetime.now(UTC).timestamp()))


@contextmanager
def whole_service(data_dir: Path, documents: Iterable[str] = (), **settings: Any) -> Iterator[WholeService]:
    """Yields the service with its own chain, and with all documents unless some are named."""
    with Provider(FakeChain(time_s=int(datetime.now(UTC).timestamp()) - 60)) as node:
        yield WholeService(data_dir, node, documents, **settings)


@contextmanager
def listening(service: WholeService) -> Iterator[str]:
    """Serves the service on a free port of this machine; yields its address."""
    server = uvicorn.Server(uvicorn.Config(service.app, host="127.0.0.1", port=0, log_level="critical"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started and thread.is_alive():
        threading.Event().wait(0.01)
    try:
        port = server.servers[0].sockets[0].getsockname()[1]
        url = f"http://127.0.0.1:{port}"
        # nothing else may be imported in this process while the rooms are: each could get a half of the other's modules
        assert httpx.get(f"{url}/api/nowhere", timeout=HANG_S).status_code == 404
        yield url
    finally:
        server.should_exit = True
        thread.join()


def wait_until_served(service: WholeService, base_url: str) -> None:
    """Waits until the front, which checks for a new generation every second, serves the last one that was published."""
    deadline = time.monotonic() + HANG_S
    while httpx.get(f"{base_url}/data/now.json").json()["generation"] != service.house.current.name:
        assert time.monotonic() < deadline
        time.sleep(0.1)
