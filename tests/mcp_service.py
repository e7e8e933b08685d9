"""A running service with both MCP servers, which can be restarted on its stores, and helpers for sending it
JSON-RPC."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import httpx2
import uvicorn
from keyed_service import with_secrets
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from patience import HANG_S
from publishing import House, mint

from api.app import create_app
from contracts.access.tiers import Tier
from contracts.settings import Settings
from warehouse.access.keys import IssuedKey, create_key
from warehouse.connect.sessions import issue_code
from warehouse.ledger.ledger import Ledger, open_ledger
from warehouse.ledger.master_secret import load_secrets

MODERN = "2026-07-28"
LONGEST_RESOURCE = 32_000
"""Most characters of a listed resource, so that it fits into a context."""
JSON = {"content-type": "application/json"}


class McpService:
    """Use as a context manager. `restart` simulates the end of a process and the next one's start. Serves the documents
    at the paths `documents`, by default all, which takes ten times as long."""

    def __init__(self, data_dir: Path, *, documents: Sequence[str] = (), **settings: Any) -> None:
        given = {"base_url": None, "port": free_port(), "rate_limit_per_minute": 0} | settings
        self.settings = with_secrets(Settings(_env_file=None, data_dir=data_dir, **given))
        self.house = House(data_dir, **{name: getattr(self.settings, name) for name in ("base_url", "port")})
        self.house.read_chain(mint(3), 20)
        self.house.publish(*documents)
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        return f"{self.settings.public_base_url}/mcp"

    def pairing_code(self) -> str:
        """Returns a code as `svc pair` issues it."""
        with self.ledger() as ledger, ledger.transaction() as tx:
            return issue_code(tx, load_secrets(self.settings).pepper).code

    @asynccontextmanager
    async def client(self, issued: IssuedKey, **options: Any) -> AsyncIterator[Client]:
        """Yields the official client of the keyed server, with nothing but a header."""
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {issued.key.reveal()}"}) as http,
            Client(streamable_http_client(self.key_url, http_client=http), **options) as client,
        ):
            yield client

    @property
    def key_url(self) -> str:
        return f"{self.settings.public_base_url}/api/v2/mcp"

    @contextmanager
    def ledger(self) -> Iterator[Ledger]:
        ledger = open_ledger(self.settings, self.settings.data_dir)
        try:
            yield ledger
        finally:
            ledger.close()

    def key(self, owner: str = "local:ada", tier: Tier = Tier.FREE, **options: Any) -> IssuedKey:
        pepper = load_secrets(self.settings).pepper
        with self.ledger() as ledger, ledger.transaction() as tx:
            return create_key(tx, pepper, tier=tier, owner=owner, now=datetime.now(UTC), **options)

    def start(self) -> None:
        config = uvicorn.Config(
            create_app(self.settings),
            host="127.0.0.1",
            port=self.settings.port,
            log_level="critical",
            lifespan="on",
            # On a busy machine a client would reuse a connection at the moment at which the usual 5 s are over.
            timeout_keep_alive=int(HANG_S),
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run)
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            threading.Event().wait(0.01)

    def stop(self) -> None:
        assert self._server is not None and self._thread is not None
        self._server.should_exit = True
        self._thread.join()

    def restart(self) -> None:
        self.stop()
        self.start()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def message(method: str, params: dict[str, Any] | None = None, **members: Any) -> str:
    """Returns one request with id 1, unless `members` changes it."""
    whole = {"jsonrpc": "2.0", "id": 1, "method": method, **members}
    return json.dumps(whole if params is None else {**whole, "params": params})


def modern(method: str, params: dict[str, Any] | None = None, **headers: str) -> tuple[dict[str, str], str]:
    """Returns headers and body of a request as revision 2026-07-28 requires them."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    name = (params or {}).get("name") or (params or {}).get("uri")
    named = {"mcp-name": name} if name else {}
    sent = {**JSON, "mcp-protocol-version": MODERN, "mcp-method": method, **named, **headers}
    return sent, message(method, {**(params or {}), "_meta": meta})
