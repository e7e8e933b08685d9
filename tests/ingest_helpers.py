"""Shared by the ingestion tests: a small chain of literal transfers, and one call that ingests it."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cli.demo.log_index import Log
from cli.demo.recorded import RecordedChain, transfer_log
from pipelines.clients.rpc import RpcPool
from pipelines.token.engine import IngestReport, ingest
from pipelines.token.events import TokenTransfers
from warehouse.duck.connection import Connection, Warehouse

CHAIN_ID = 8453
TOKEN = "0x" + "70" * 20
ALICE, BOB = "0x" + "a1" * 20, "0x" + "b0" * 20


def logs_at(*blocks: int, value_raw: int = 1, per_block: int = 1) -> list[Log]:
    """Returns transfers from Alice to Bob, `per_block` in each of `blocks`."""
    return [transfer_log(TOKEN, block, index, ALICE, BOB, value_raw) for block in blocks for index in range(per_block)]


def small_chain(logs: Sequence[Log], *, head: int = 200, **options: Any) -> RecordedChain:
    return RecordedChain(chain_id=CHAIN_ID, token=TOKEN, logs=logs, first_block=0, head=head, **options)


def pool_of(*urls: str, **options: Any) -> RpcPool:
    options = {"chain_id": CHAIN_ID, "timeout_s": 20.0, "patience_s": 60.0, **options}
    return RpcPool(urls, **options)


def ingest_once(connection: Connection, *urls: str, pool: dict[str, Any] | None = None, **options: Any) -> IngestReport:
    """Ingests one slice over a pool of `urls`."""

    async def run() -> IngestReport:
        async with pool_of(*urls, **(pool or {})) as opened:
            settings = {"events": TokenTransfers(TOKEN), "start_block": 0, "confirmations": None, **options}
            return await ingest(opened, connection, **settings)

    return asyncio.run(run())


@contextmanager
def warehouse(directory: Path) -> Iterator[Connection]:
    with Warehouse(directory).connect() as connection:
        yield connection


def held_blocks(connection: Connection, table: str = "raw_chain__transfers") -> list[tuple[int, int]]:
    """Returns (block, log index) of every row, in the table's order."""
    rows: list[tuple[int, int]] = connection.execute(f"select block_number, log_index from {table}").fetchall()
    return rows


def assert_contiguous(connection: Connection) -> None:
    """Asserts that ranges follow one another, and that each has as many rows as it records."""
    gaps = connection.execute(
        """
        select count(*)
        from (select from_block, lag(to_block) over (order by from_block) as before from raw_chain__ranges)
        where before is not null and from_block != before + 1
        """
    ).fetchone()
    wrong = connection.execute(
        """
        select count(*) from raw_chain__ranges as ranges
        where log_count != (
            select count(*) from raw_chain__transfers as transfers
            where transfers.block_number between ranges.from_block and ranges.to_block
        )
        """
    ).fetchone()
    doubled = connection.execute(
        "select count(*) - count(distinct (block_number, log_index)) from raw_chain__transfers"
    ).fetchone()
    assert (gaps, wrong, doubled) == ((0,), (0,), (0,))
