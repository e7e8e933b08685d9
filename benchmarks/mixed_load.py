"""Measures light requests under heavy load: 200 connections of mixed work on `svc serve`, and one key's large requests.

Compares the p99 of health and documents with that of the same service at rest, counts statuses, and reads back every
acknowledged write. Latencies are valid for an otherwise idle machine.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import statistics
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

from benchmarks.serving import FREE_PATH, LIMITED_PATH, free_port, publish_document, running
from contracts.access.tiers import Tier
from contracts.settings import Settings
from contracts.world.proposal import Actor, NodeDraft, Proposal
from warehouse.access.keys import create_key
from warehouse.duck.connection import Warehouse
from warehouse.ledger.ledger import Ledger, open_ledger
from warehouse.ledger.master_secret import load_secrets
from warehouse.publish.serving import FILE_NAME, serving_copy, table_digests
from warehouse.world.load import load_constitution
from warehouse.world.write import propose

CONNECTIONS = 200
HEAVY_OF_EACH_KIND = 45
HEADINGS = 8_000
NODES_BEFORE = 20_000
LOADED_S = 20.0
REST_S = 60.0
LIMIT = 1_000_000_000

QUERY, SIGNAL = "/api/v2/world-model/query", "/api/v2/world-model/signal"
BUILD, CHECK = "/api/v2/knowledge-graph/build", "/api/v2/guardrail/check"


@dataclass(frozen=True)
class MixedLoad:
    """Milliseconds at rest and under load; statuses by route; the API process's resident memory before and after."""

    idle_p99_ms: dict[str, float]
    loaded_p99_ms: dict[str, float]
    statuses: dict[str, dict[int, int]]
    acknowledged: int
    lost: int
    memory_before_mb: float
    memory_after_mb: float

    def bound_ms(self, path: str) -> float:
        """Returns the upper bound for p99 of a light path under load."""
        return max(10 * self.idle_p99_ms[path], 250.0)


LIGHT = ("/health", FREE_PATH, LIMITED_PATH)


@dataclass
class _Seen:
    took_ms: dict[str, list[float]] = field(default_factory=lambda: {path: [] for path in LIGHT})
    statuses: dict[str, Counter[int]] = field(default_factory=dict)
    written: list[str] = field(default_factory=list)

    def note(self, path: str, status: int, took_s: float) -> None:
        self.statuses.setdefault(path, Counter())[status] += 1
        if path in self.took_ms:
            self.took_ms[path].append(took_s * 1000)

    def p99_ms(self) -> dict[str, float]:
        return {path: statistics.quantiles(took, n=100)[98] for path, took in self.took_ms.items()}


class _Client:
    """One connection, reopened if the service has closed it."""

    def __init__(self, port: int, key: str) -> None:
        self._port = port
        self._key = key
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, seen: _Seen, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        """Sends one request. Returns its status and body."""
        content = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", "Host: bench", f"Content-Length: {len(content)}"]
        if path not in LIGHT:
            lines += [f"X-Api-Key: {self._key}", "Content-Type: application/json"]
        request = "\r\n".join([*lines, "", ""]).encode() + content
        started = time.perf_counter()
        status, answer = await self._exchange(request)
        seen.note(path, status, time.perf_counter() - started)
        return status, answer

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].transport.abort()
            self._streams = None

    async def _exchange(self, request: bytes) -> tuple[int, bytes]:
        reused = self._streams is not None
        try:
            if self._streams is None:
                self._streams = await asyncio.open_connection("127.0.0.1", self._port, limit=1 << 20)
            reader, writer = self._streams
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
        except (ConnectionError, asyncio.IncompleteReadError):
            self.close()
            if not reused:
                raise
            return await self._exchange(request)
        length = re.search(rb"(?i)content-length: (\d+)", head)
        answer = await reader.readexactly(int(length[1])) if length else b""
        if b"connection: close" in head.lower():
            self.close()
        return int(head.split(b" ", 2)[1]), answer


def measure(*, loaded_s: float = LOADED_S, rest_s: float = REST_S) -> MixedLoad:
    """Serves a document and a graph, and sends requests at rest, under load and after it."""
    with tempfile.TemporaryDirectory() as directory:
        data_dir, port = Path(directory), free_port()
        settings = Settings(_env_file=None, data_dir=data_dir, port=port, rate_limit_per_minute=LIMIT)
        with Warehouse(data_dir).connect() as warehouse:
            publish_document(settings, {FILE_NAME: serving_copy(warehouse, table_digests(warehouse))})
        keys = _fill(settings)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")} | {
            "SVC_DATA_DIR": str(data_dir),
            "SVC_PORT": str(port),
            "SVC_RATE_LIMIT_PER_MINUTE": str(LIMIT),
            "SVC_RPC_URLS": "http://127.0.0.1:1",
        }
        command = [str(Path(sys.executable).with_name("svc")), "serve"]
        with running(command, port, environment) as pid:
            return asyncio.run(_measure(port, pid, keys, loaded_s, rest_s))


def _fill(settings: Settings) -> list[str]:
    """Writes a graph, and creates one key per connection, each with its own owner, and one for the heavy requests."""
    ledger = open_ledger(settings, settings.data_dir)
    try:
        load_constitution(ledger)
        _write_nodes(ledger)
        pepper = load_secrets(settings).pepper
        with ledger.transaction() as tx:
            issued = [
                create_key(tx, pepper, tier=Tier.PRO, owner=f"local:bench{number}", now=datetime.now(UTC))
                for number in range(CONNECTIONS + 1)
            ]
        return [key.key.reveal() for key in issued]
    finally:
        ledger.close()


def _write_nodes(ledger: Ledger) -> None:
    for start in range(0, NODES_BEFORE, 5_000):
        nodes = tuple(
            NodeDraft(id=f"goal:{number}", type="Goal", title=f"Goal {number}")
            for number in range(start, start + 5_000)
        )
        propose(ledger, Proposal(actor=Actor("caller", "local:bench0"), source="bench", nodes=nodes))


async def _measure(port: int, pid: int, keys: list[str], loaded_s: float, rest_s: float) -> MixedLoad:
    idle, seen = _Seen(), _Seen()
    first = _Client(port, keys[1])
    await _mixed(first, idle, time.monotonic() + 2, 0)  # warms up everything that a first request loads
    for key in keys:  # because a key's first use is written to the ledger
        client = _Client(port, key)
        await client.ask(idle, "POST", CHECK, {"action": "ls -la"})
        client.close()
    idle = _Seen()
    await _light(port, keys[0], idle, time.monotonic() + loaded_s / 2)
    memory_before = psutil.Process(pid).memory_info().rss
    until = time.monotonic() + loaded_s
    mixed = [_Client(port, keys[number + 1]) for number in range(CONNECTIONS)]
    heavy = [_Client(port, keys[0]) for _ in range(2 * HEAVY_OF_EACH_KIND)]
    await asyncio.gather(
        _light(port, keys[0], seen, until),
        *(_mixed(client, seen, until, number) for number, client in enumerate(mixed)),
        *(_heavy(client, seen, until, number) for number, client in enumerate(heavy)),
    )
    for client in (first, *mixed, *heavy):
        client.close()
    lost = await _lost(port, keys, seen)
    await asyncio.sleep(rest_s)
    return MixedLoad(
        idle_p99_ms=idle.p99_ms(),
        loaded_p99_ms=seen.p99_ms(),
        statuses={path: dict(sorted(counts.items())) for path, counts in sorted(seen.statuses.items())},
        acknowledged=len(seen.written),
        lost=lost,
        memory_before_mb=memory_before / 1e6,
        memory_after_mb=psutil.Process(pid).memory_info().rss / 1e6,
    )


async def _light(port: int, key: str, seen: _Seen, until: float) -> None:
    """Requests health and documents one after the other, from a client that does nothing else."""
    client = _Client(port, key)
    while time.monotonic() < until:
        for path in LIGHT:
            await client.ask(seen, "GET", path)
        await asyncio.sleep(0.01)
    client.close()


async def _mixed(client: _Client, seen: _Seen, until: float, number: int) -> None:
    """Sends the requests of an agent: writes, checks, queries and reads."""
    turn = 0
    while time.monotonic() < until:
        turn += 1
        title = f"Seen by {number} at {turn}"
        status, answer = await client.ask(
            seen, "POST", SIGNAL, {"type": "Observation", "title": title, "source": "bench"}
        )
        if status == 201:
            seen.written.append(f"{number} {json.loads(answer)['data']['signalId']}")
        await client.ask(seen, "POST", CHECK, {"action": "ls -la"})
        await client.ask(seen, "POST", QUERY, {"search": "goal", "limit": 20})
        await client.ask(seen, "GET", LIMITED_PATH)


async def _heavy(client: _Client, seen: _Seen, until: float, number: int) -> None:
    """Sends one key's queries of the past and builds, in a loop that ignores refusals."""
    headings = "".join(f"# Heading {line} of {number}\n" for line in range(HEADINGS))
    while time.monotonic() < until:
        if number % 2:
            await client.ask(seen, "POST", QUERY, {"atRevision": NODES_BEFORE // 2, "search": "goal", "limit": 1_000})
        else:
            await client.ask(seen, "POST", BUILD, {"documents": [{"markdown": headings}]})
        await asyncio.sleep(0.1)


async def _lost(port: int, keys: list[str], seen: _Seen) -> int:
    """Returns the number of acknowledged writes that their own key can't read back."""
    after, lost = _Seen(), 0
    for written in seen.written:
        number, _, node_id = written.partition(" ")
        client = _Client(port, keys[int(number) + 1])
        status, answer = await client.ask(after, "POST", QUERY, {"node_id": node_id})
        lost += status != 200 or len(json.loads(answer)["data"]["nodes"]) != 1
        client.close()
    return lost
