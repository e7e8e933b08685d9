"""Transfers in DuckDB: ranges with their checkpoint, and the tip above finality. What the rows mean is the schema's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from warehouse.duck import Connection, read_sql, transaction


@dataclass(frozen=True)
class Checkpoint:
    """How far history is held: every block up to `to_block` has been read, the last range with `log_count` rows."""

    from_block: int
    to_block: int
    to_block_hash: str
    log_count: int


@dataclass(frozen=True)
class RangeRead:
    """One contiguous range as it was read: its rows (`raw_chain__transfers`) and what its checkpoint row says."""

    from_block: int
    to_block: int
    to_block_hash: str
    to_block_time_s: int
    payload_sha256: str
    rpc_host: str
    reasked: bool
    transfers: pa.Table


@dataclass(frozen=True)
class TipBlock:
    """A block above finality."""

    number: int
    hash: str
    parent_hash: str
    time_s: int


@dataclass(frozen=True)
class IngestSummary:
    """What is held: transfers, ranges, ranges that a second node confirmed, first block read (None: nothing yet)."""

    log_count: int
    range_count: int
    reasked_count: int
    from_block: int | None


def last_checkpoint(connection: Connection) -> Checkpoint | None:
    rows = _run(connection, "last_checkpoint")
    return Checkpoint(rows[0][0], rows[0][1], rows[0][2], rows[0][3]) if rows else None


def ingest_summary(connection: Connection) -> IngestSummary:
    return IngestSummary(*_run(connection, "ingest_summary")[0])


class RangeAppender:
    """Appends contiguous ranges, rows and checkpoints, in one transaction that stays open until `commit`.

    DuckDB writes the whole row groups of an open transaction straight to the file; commits of a few thousand rows each
    would go through its log and be written twice.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._is_open = False

    def append(self, ranges: Sequence[RangeRead]) -> None:
        """Put `ranges` behind what is held. Raises `ValueError` on a gap, which would never be seen again."""
        if not self._is_open:
            _run(self._connection, "write_fast")
            self._connection.begin()
            self._is_open = True
        held = last_checkpoint(self._connection)
        expected = ranges[0].from_block if held is None else held.to_block + 1
        for part in ranges:
            if part.from_block != expected or part.to_block < part.from_block:
                raise ValueError(f"blocks {part.from_block} to {part.to_block} do not follow block {expected - 1}")
            expected = part.to_block + 1
        _append(self._connection, "append_transfers", pa.concat_tables([part.transfers for part in ranges]))
        for part in ranges:
            _run(
                self._connection,
                "append_range",
                [
                    part.from_block,
                    part.to_block,
                    part.to_block_hash,
                    _utc(part.to_block_time_s),
                    part.transfers.num_rows,
                    part.payload_sha256,
                    part.rpc_host,
                    part.reasked,
                    datetime.now(UTC).replace(tzinfo=None),
                ],
            )

    def commit(self) -> None:
        """Make what was appended last."""
        if self._is_open:
            self._is_open = False  # DuckDB ends a transaction whose commit fails
            self._connection.commit()
            _run(self._connection, "write_small")

    def rollback(self) -> None:
        """Forget what was appended since the last commit."""
        if self._is_open:
            self._connection.rollback()
            self._is_open = False
            _run(self._connection, "write_small")


def tip_blocks(connection: Connection) -> list[TipBlock]:
    """The blocks held above finality, lowest first."""
    rows = _run(connection, "tip_blocks")
    return [TipBlock(number, block_hash, parent, _unix(block_time)) for number, block_hash, parent, block_time in rows]


def replace_tip(
    connection: Connection,
    *,
    first_kept: int,
    last_kept: int,
    blocks: Sequence[TipBlock],
    transfers: Sequence[pa.Table],
) -> None:
    """Keep of the tip what lies in [first_kept, last_kept] and append `blocks` with their rows, in one transaction."""
    with transaction(connection):
        for table in ("tip_transfers", "tip_blocks"):
            _run(connection, f"delete_{table}", [first_kept, last_kept])
        for block in blocks:
            _run(connection, "append_tip_block", [block.number, block.hash, block.parent_hash, _utc(block.time_s)])
        for rows in transfers:
            _append(connection, "append_tip_transfers", rows)


def _run(connection: Connection, question: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    # Fetched to the end: a result left open would block the connection's next use.
    rows: list[tuple[Any, ...]] = connection.execute(read_sql("queries", question), list(values)).fetchall()
    return rows


def _append(connection: Connection, question: str, rows: pa.Table) -> None:
    if not rows.num_rows:
        return
    connection.register("incoming", rows)
    try:
        _run(connection, question)
    finally:
        connection.unregister("incoming")


def _utc(time_s: int) -> datetime:
    return datetime.fromtimestamp(time_s, UTC).replace(tzinfo=None)


def _unix(value: datetime) -> int:
    return int(value.replace(tzinfo=UTC).timestamp())
