"""Measures the history of balances: building it, extending it, and look-ups of (address, block) over HTTP.

The answers of 1,000 random pairs are compared with a replay in plain Python.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from benchmarks.incremental import HISTORY_BLOCKS, HOLDERS, TOKEN, account, chain_after_history, write_history
from benchmarks.serving import NEVER_REACHED, cpu_s, free_port, running
from cli.demo.recorded import RecordedNode
from contracts.settings import Settings
from contracts.token.holder_documents import ConsistencyLevel, Token
from pipelines.clients.rpc import RpcPool
from pipelines.publish.generation import publish
from pipelines.token.holder_lists import take_list
from warehouse.duck.connection import Connection, Warehouse
from warehouse.publish.readers import context_for
from warehouse.token.fold import fold_balances
from warehouse.token.history_writer import extend_history
from warehouse.token.holder_status import record_status

TRANSFERS = 5_000_000
CONNECTIONS = 8
PAIRS = 1_000
NEW_BLOCKS = 100
NEW_TRANSFERS = 200

Pair = tuple[str, int]
"""Address and block."""


@dataclass(frozen=True)
class HistoryCost:
    """CPU seconds to build and to extend the history, its size, and the latencies of look-ups in milliseconds."""

    transfers: int
    build_cpu_s: float
    extend_cpu_s: float
    megabytes: float
    lookups: int
    lookup_cpu_ms: float
    lookups_per_s: float
    p50_ms: float
    p99_ms: float
    pairs: int
    pairs_equal: int


def measure(transfers: int = TRANSFERS) -> HistoryCost:
    """Builds the history of a synthetic token, publishes it, and looks up random addresses at random blocks."""
    with tempfile.TemporaryDirectory() as directory:
        data_dir, port = Path(directory), free_port()
        settings = Settings(
            _env_file=None, data_dir=data_dir, port=port, token_address=TOKEN, rate_limit_per_minute=NEVER_REACHED
        )
        pairs = random_pairs(PAIRS, seed=18)
        with Warehouse(data_dir).connect() as connection:
            build_cpu_s = _build(connection, data_dir, transfers)
            extend_cpu_s = _extend(connection, data_dir)
            asyncio.run(_publish(connection, settings))
            expected = replayed(connection, pairs)
        megabytes = sum(path.stat().st_size for path in (data_dir / "history").iterdir()) / 1e6
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("SVC_")},
            "SVC_DATA_DIR": directory,
            "SVC_PORT": str(port),
            "SVC_TOKEN_ADDRESS": TOKEN,
            "SVC_RATE_LIMIT_PER_MINUTE": str(NEVER_REACHED),
            "SVC_RPC_URLS": "http://127.0.0.1:1",
        }
        with running([str(Path(sys.executable).with_name("svc")), "serve"], port, environment) as pid:
            asyncio.run(_ask_all(port, random_pairs(500, seed=1)))
            answers, _ = asyncio.run(_ask_all(port, pairs))
            cpu_before, started = cpu_s(pid), time.perf_counter()
            more = random_pairs(8 * PAIRS, seed=2)
            _, latencies = asyncio.run(_ask_all(port, more))
            took_s, cpu = time.perf_counter() - started, cpu_s(pid) - cpu_before
    latencies.sort()
    return HistoryCost(
        transfers=transfers,
        build_cpu_s=round(build_cpu_s, 2),
        extend_cpu_s=round(extend_cpu_s, 3),
        megabytes=round(megabytes, 1),
        lookups=len(latencies),
        lookup_cpu_ms=round(1_000 * cpu / len(latencies), 2),
        lookups_per_s=round(len(latencies) / took_s),
        p50_ms=round(1_000 * median(latencies), 1),
        p99_ms=round(1_000 * latencies[int(0.99 * len(latencies))], 1),
        pairs=len(pairs),
        pairs_equal=sum(answer == expected[pair] for pair, answer in zip(pairs, answers, strict=True)),
    )


def random_pairs(count: int, seed: int) -> list[Pair]:
    """Returns random holders at random blocks."""
    dice = random.Random(seed)
    return [(account(dice.randrange(HOLDERS)), dice.randint(1, HISTORY_BLOCKS)) for _ in range(count)]


def replayed(connection: Connection, pairs: Sequence[Pair]) -> dict[Pair, int]:
    """Computes the balances of all pairs by adding up every transfer in Python, one after the other."""
    due = sorted(pairs, key=lambda pair: pair[1])
    found: dict[Pair, int] = {}
    balances: dict[bytes, int] = {}
    at = 0
    cursor = connection.execute(
        "select block_number, from_address, to_address, value_raw.limb0 from raw_chain__transfers "
        "order by block_number, log_index"
    )
    while rows := cursor.fetchmany(100_000):
        for block, sender, recipient, value in rows:
            while at < len(due) and due[at][1] < block:
                found[due[at]] = balances.get(bytes.fromhex(due[at][0][2:]), 0)
                at += 1
            balances[sender] = balances.get(sender, 0) - value
            balances[recipient] = balances.get(recipient, 0) + value
    return found | {pair: balances.get(bytes.fromhex(pair[0][2:]), 0) for pair in due[at:]}


def _build(connection: Connection, data_dir: Path, transfers: int) -> float:
    write_history(connection, transfers, f"0x{HISTORY_BLOCKS:064x}")
    folded = fold_balances(connection)
    assert folded is not None
    started = time.process_time()
    extend_history(connection, data_dir, folded.state)
    return time.process_time() - started


def _extend(connection: Connection, data_dir: Path) -> float:
    """Extends the history by new blocks, whose transfers are spread over the holders."""
    first, last = HISTORY_BLOCKS + 1, HISTORY_BLOCKS + NEW_BLOCKS
    connection.execute(
        "insert into raw_chain__transfers select * replace (block_number + ? as block_number, "
        "block_time + interval 30 days as block_time) from raw_chain__transfers where block_number > ? limit ?",
        [NEW_BLOCKS, HISTORY_BLOCKS - NEW_BLOCKS, NEW_TRANSFERS],
    )
    connection.execute(
        "insert into raw_chain__ranges select * replace (? as from_block, ? as to_block, "
        "to_block_time + interval 30 days as to_block_time) from raw_chain__ranges order by to_block desc limit 1",
        [first, last],
    )
    folded = fold_balances(connection)
    assert folded is not None and folded.new_transfers > 0
    started = time.process_time()
    extend_history(connection, data_dir, folded.state)
    return time.process_time() - started


async def _publish(connection: Connection, settings: Settings) -> None:
    token, now = Token(address=TOKEN, name=None, symbol=None, decimals=18), datetime.now(UTC)
    block = HISTORY_BLOCKS + NEW_BLOCKS
    record_status(connection, chain_id=8453, token=token, start_block=0, finalized_block=block, now=now)
    with RecordedNode(chain_after_history([])) as node:
        async with RpcPool([node.url], chain_id=8453) as pool:
            await take_list(
                connection,
                pool,
                settings.data_dir,
                token=token,
                level=ConsistencyLevel.FINALIZED,
                snapshot_reason=None,
                now=now,
            )
    publish(context_for(connection, settings), settings)


async def _ask_all(port: int, pairs: Sequence[Pair]) -> tuple[list[int], list[float]]:
    """Looks up all pairs over a few connections. Returns the balances in order, and each answer's seconds."""
    answers, latencies = [0] * len(pairs), [0.0] * len(pairs)
    waiting = iter(range(len(pairs)))

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for index in waiting:
            address, block = pairs[index]
            started = time.perf_counter()
            request = f"GET /api/token/holders/{address}?block={block} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"
            writer.write(request.encode())
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            size = int(head.partition(b"content-length:")[2].split(b"\r\n", 1)[0])
            body = await reader.readexactly(size)
            latencies[index] = time.perf_counter() - started
            if not head.startswith(b"http/1.1 200"):
                raise RuntimeError(f"{head[:40]!r} for {address} at {block}")
            answers[index] = int(json.loads(body)["balanceRaw"])
        writer.close()

    await asyncio.gather(*(client() for _ in range(CONNECTIONS)))
    return answers, latencies
