"""Measures 100 new blocks on a small and on a large warehouse with the same number of holders."""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cli.demo.recorded import RecordedChain, RecordedNode, transfer_log
from contracts.settings import load_settings
from contracts.token.holder_documents import ConsistencyLevel, Token
from pipelines.clients.rpc import RpcPool
from pipelines.publish.generation import publish
from pipelines.token.engine import ingest
from pipelines.token.events import TokenTransfers
from pipelines.token.holder_lists import prove_balances, take_list
from warehouse.duck.connection import Connection, Warehouse
from warehouse.duck.facts import gather_facts, mark_checked
from warehouse.publish.readers import context_for
from warehouse.token.fold import fold_balances

HOLDERS = 50_000
SMALL, LARGE = 50_000, 5_000_000
HISTORY_BLOCKS = 1_000_000
HISTORY_FROM_S = 1_767_225_600
"""The time of block 0: 2026-01-01, in Unix seconds."""
BLOCK_TIME_S = 2
NEW_BLOCKS = 100
NEW_TRANSFERS_PER_BLOCK = 20
TOKEN = "0x" + "70" * 20
SUITES = ("raw_chain__transfers", "core_holders__balances")


@dataclass(frozen=True)
class RunCost:
    """Seconds of one run on a published warehouse: reading, folding, proving and checking, without list files and
    publishing."""

    transfers: int
    run_wall_s: float
    run_cpu_s: float
    publish_wall_s: float


def measure() -> tuple[RunCost, RunCost]:
    """Measures the same run on the small and on the large warehouse, after one uncounted run."""
    run_on(SMALL)
    return run_on(SMALL), run_on(LARGE)


def run_on(transfers: int, holders: int = HOLDERS) -> RunCost:
    """Measures a run on a warehouse with that many published transfers, and holders."""
    chain = chain_after_history(list(_new_logs(holders)))
    with tempfile.TemporaryDirectory() as directory, RecordedNode(chain) as node:
        data_dir = Path(directory)
        held_hash = chain.answer("eth_getBlockByNumber", [hex(HISTORY_BLOCKS), False])["hash"]
        with Warehouse(data_dir).connect() as connection:
            write_history(connection, transfers, held_hash, holders)
            fold_balances(connection)
            mark_checked(connection, "raw_chain__transfers", HISTORY_BLOCKS)
        asyncio.run(_publish(data_dir, node.url))
        started, cpu_started = time.perf_counter(), time.process_time()
        asyncio.run(_run(data_dir, node.url))
        run_wall_s, run_cpu_s = time.perf_counter() - started, time.process_time() - cpu_started
        publish_wall_s = _timed(lambda: asyncio.run(_publish(data_dir, node.url)))
    return RunCost(transfers, run_wall_s, run_cpu_s, publish_wall_s)


async def _run(data_dir: Path, url: str) -> None:
    with Warehouse(data_dir).connect() as connection:
        async with RpcPool([url], chain_id=8453) as pool:
            report = await ingest(pool, connection, TokenTransfers(TOKEN), start_block=0, confirmations=None)
            folded = fold_balances(connection)
            assert report.complete and report.log_count == NEW_BLOCKS * NEW_TRANSFERS_PER_BLOCK and folded
            await prove_balances(connection, pool, TOKEN, folded.state)
        for suite in SUITES:
            gather_facts(connection, suite)


async def _publish(data_dir: Path, url: str) -> None:
    settings = load_settings(data_dir=data_dir, rpc_urls=(url,), token_address=TOKEN)
    token = Token(address=TOKEN, name=None, symbol=None, decimals=18)
    with Warehouse(data_dir).connect() as connection:
        async with RpcPool([url], chain_id=8453) as pool:
            await take_list(
                connection,
                pool,
                data_dir,
                token=token,
                level=ConsistencyLevel.FINALIZED,
                snapshot_reason=None,
                now=datetime.now(UTC),
            )
        publish(context_for(connection, settings), settings)


def write_history(connection: Connection, transfers: int, held_hash: str, holders: int = HOLDERS) -> None:
    """Writes that many transfers between `holders`, in HISTORY_BLOCKS blocks, the last of which has `held_hash`."""
    parameters = {
        "transfers": transfers,
        "holders": holders,
        "blocks": HISTORY_BLOCKS,
        "held_hash": held_hash,
        "from_time": datetime.fromtimestamp(HISTORY_FROM_S, UTC).replace(tzinfo=None),
        "block_time_s": BLOCK_TIME_S,
    }
    for statement in Path(__file__).with_name("history.sql").read_text().split(";\n"):
        if statement.strip():
            connection.execute(statement, {n: v for n, v in parameters.items() if f"${n}" in statement})


def chain_after_history(logs: list[dict[str, Any]]) -> RecordedChain:
    """Returns a chain that continues where the written history ends, with the same block times."""
    head = HISTORY_BLOCKS + NEW_BLOCKS + 2
    return RecordedChain(
        chain_id=8453,
        token=TOKEN,
        logs=logs,
        first_block=0,
        head=head,
        head_time=HISTORY_FROM_S + BLOCK_TIME_S * head,
        block_time_s=BLOCK_TIME_S,
        has_state=False,
    )


def _new_logs(holders: int) -> Iterator[dict[str, Any]]:
    dice = random.Random(8453)
    for block in range(HISTORY_BLOCKS + 1, HISTORY_BLOCKS + NEW_BLOCKS + 1):
        for index in range(NEW_TRANSFERS_PER_BLOCK):
            sender, recipient = dice.sample(range(holders), 2)
            yield transfer_log(TOKEN, block, index, account(sender), account(recipient), 1)


def account(number: int) -> str:
    return f"0x{number + 1:040x}"


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
