"""Stores events in DuckDB: ranges with their checkpoints, and the tip above finality. The schema defines the rows.

Each kind of event has its own tables; the token's transfers are the default.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from warehouse.duck.connection import Connection, transaction
from warehouse.duck.instances import QUERY_THREADS
from warehouse.duck.rows import aware_utc, insert
from warehouse.statements import read_sql
from warehouse.token.holders import combined


@dataclass(frozen=True)
class EventTables:
    """The tables of one kind of event: rows and ranges, and the tip's rows and blocks if it is read above finality."""

    rows: str
    ranges: str
    tip_rows: str | None = None
    tip_blocks: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.rows, self.ranges, self.tip_rows, self.tip_blocks)))


TRANSFERS = EventTables(
    rows="raw_chain__transfers",
    ranges="raw_chain__ranges",
    tip_rows="raw_chain__tip_transfers",
    tip_blocks="raw_chain__tip_blocks",
)
CONTRACT_TRANSFERS = EventTables(
    rows="raw_chain__contract_transfers",
    ranges="raw_chain__contract_ranges",
    tip_rows="raw_chain__contract_tip_transfers",
    tip_blocks="raw_chain__contract_tip_blocks",
)
ATTESTATIONS = EventTables(rows="raw_chain__attestations", ranges="raw_chain__attestation_ranges")
POOL_RESERVES = EventTables(rows="raw_chain__pool_reserves", ranges="raw_chain__pool_ranges")


@dataclass(frozen=True)
class Checkpoint:
    """The newest stored range: every block up to `to_block` was read, the last range with `log_count` rows."""

    from_block: int
    to_block: int
    to_block_hash: str
    log_count: int
    to_block_time_s: int | None
    """None if an earlier version, which did not store it, read the range."""


@dataclass(frozen=True)
class RangeRead:
    """One contiguous range as read from a node: its rows and the content of its checkpoint row."""

    from_block: int
    to_block: int
    to_block_hash: str
    to_block_time_s: int
    payload_sha256: str
    rpc_host: str
    reasked: bool
    rows: pa.Table


@dataclass(frozen=True)
class StoredRange:
    """A range as recorded: its blocks, the number and digest of its rows, and the node that delivered them."""

    from_block: int
    to_block: int
    log_count: int
    payload_sha256: str
    rpc_host: str

    @property
    def name(self) -> str:
        """The subject of a dispute about these rows."""
        return f"{self.from_block}-{self.to_block}"


@dataclass(frozen=True)
class TipBlock:
    """A block above finality."""

    number: int
    hash: str
    parent_hash: str
    time_s: int


def last_checkpoint(connection: Connection, tables: EventTables = TRANSFERS) -> Checkpoint | None:
    rows = _run(connection, "last_checkpoint", tables=tables)
    if not rows:
        return None
    from_block, to_block, to_block_hash, log_count, to_block_time = rows[0]
    return Checkpoint(from_block, to_block, to_block_hash, log_count, to_block_time and _unix(to_block_time))


def forget_unless_of(connection: Connection, tables: EventTables, address: str, start_block: int) -> None:
    """Deletes the rows if they belong to another address or first block; reading then starts over."""
    wanted = (address, start_block)
    with transaction(connection):
        rows = connection.execute(
            "select address, start_block from raw_chain__subjects where rows_table = ?", [tables.rows]
        ).fetchall()
        if rows == [wanted]:
            return
        for table in tables.names:
            connection.execute(f"delete from {table}")  # noqa: S608 - our own names
        connection.execute("delete from raw_chain__subjects where rows_table = ?", [tables.rows])
        connection.execute("delete from core_checks__watermarks where suite = ?", [tables.rows])
        subject = {"rows_table": tables.rows, "address": address, "start_block": start_block}
        insert(connection, "raw_chain__subjects", subject)


def delivering_hosts(connection: Connection, tables: EventTables) -> list[str]:
    """Returns the nodes that delivered the stored ranges, in order."""
    return [host for (host,) in _run(connection, "delivering_hosts", tables=tables)]


def moved_to_contract(connection: Connection, contract: str, token: str, upto: int) -> int:
    """Returns the net amount of a token (smallest units) that stored transfers up to a block moved to the contract."""
    return _net(connection, "contract_moves", contract, upto, token=bytes.fromhex(token[2:]))


def moved_of_service_token(connection: Connection, contract: str, upto: int) -> int:
    """Returns the same for the service token, from all of its transfers."""
    return _net(connection, "service_token_moves", contract, upto)


def _net(connection: Connection, question: str, contract: str, upto: int, **values: Any) -> int:
    values |= {"contract": bytes.fromhex(contract[2:]), "upto": upto}
    rows = connection.execute(read_sql(question), values).fetchall()
    return sum((-1 if outgoing else 1) * combined(limbs) for outgoing, *limbs in rows)


class RangeAppender:
    """Appends contiguous ranges, rows and checkpoints, in one transaction that stays open until `commit`.

    DuckDB writes the full row groups of an open transaction directly to the file; commits of a few thousand rows each
    would go through its write-ahead log and be written twice.
    """

    def __init__(self, connection: Connection, tables: EventTables = TRANSFERS) -> None:
        self._connection = connection
        self._tables = tables
        self._is_open = False
        self._next_block: int | None = None

    def append(self, ranges: Sequence[RangeRead]) -> None:
        """Appends `ranges` to the stored ones. Raises `ValueError` on a gap, which nothing would notice later."""
        if not self._is_open:
            _run(self._connection, "write_fast")
            # With several threads each statement first collects its rows separately, at twice the cost.
            self._connection.execute("set threads = 1")
            self._connection.begin()
            self._is_open = True
            checkpoint = last_checkpoint(self._connection, self._tables)
            self._next_block = None if checkpoint is None else checkpoint.to_block + 1
        expected = ranges[0].from_block if self._next_block is None else self._next_block
        for part in ranges:
            if part.from_block != expected or part.to_block < part.from_block:
                raise ValueError(f"blocks {part.from_block} to {part.to_block} do not follow block {expected - 1}")
            expected = part.to_block + 1
        _append(self._connection, self._tables.rows, pa.concat_tables([part.rows for part in ranges]))
        now = datetime.now(UTC)
        insert(
            self._connection,
            self._tables.ranges,
            [
                {
                    "from_block": part.from_block,
                    "to_block": part.to_block,
                    "to_block_hash": part.to_block_hash,
                    "to_block_time": _time(part.to_block_time_s),
                    "log_count": part.rows.num_rows,
                    "payload_sha256": part.payload_sha256,
                    "rpc_host": part.rpc_host,
                    "reasked": part.reasked,
                    "recorded_at": now,
                }
                for part in ranges
            ],
        )
        self._next_block = expected

    def commit(self) -> None:
        """Commits the appended ranges."""
        if self._is_open:
            self._is_open = False  # DuckDB ends a transaction whose commit fails
            self._connection.commit()
            self._reset()

    def rollback(self) -> None:
        """Discards the ranges that were appended since the last commit."""
        if self._is_open:
            self._connection.rollback()
            self._is_open = False
            self._reset()

    def _reset(self) -> None:
        self._connection.execute(f"set threads = {QUERY_THREADS}")
        _run(self._connection, "write_small")


def tip_blocks(connection: Connection, tables: EventTables = TRANSFERS) -> list[TipBlock]:
    """Returns the stored blocks above finality, lowest first."""
    rows = _run(connection, "tip_blocks", tables=tables)
    return [TipBlock(number, block_hash, parent, _unix(block_time)) for number, block_hash, parent, block_time in rows]


def replace_tip(
    connection: Connection,
    *,
    first_kept: int,
    last_kept: int,
    blocks: Sequence[TipBlock],
    rows: Sequence[pa.Table],
    tables: EventTables = TRANSFERS,
) -> None:
    """Retains the tip's blocks in [first_kept, last_kept] and appends `blocks` with their rows, in one transaction."""
    with transaction(connection):
        assert tables.tip_rows and tables.tip_blocks, "an event that is read above finality"
        for question in ("delete_tip_rows", "delete_tip_blocks"):
            _run(connection, question, [first_kept, last_kept], tables=tables)
        insert(
            connection,
            tables.tip_blocks,
            [
                {
                    "number": block.number,
                    "hash": block.hash,
                    "parent_hash": block.parent_hash,
                    "block_time": _time(block.time_s),
                }
                for block in blocks
            ],
        )
        for part in rows:
            _append(connection, tables.tip_rows, part)


def _run(
    connection: Connection, question: str, values: Sequence[Any] = (), *, tables: EventTables = TRANSFERS
) -> list[tuple[Any, ...]]:
    statement = read_sql(question)
    for name in ("tip_rows", "tip_blocks", "ranges"):
        statement = statement.replace(f"${name}", getattr(tables, name) or "")
    # Fetched to the end: a result left open would block the connection's next use.
    rows: list[tuple[Any, ...]] = connection.execute(statement, list(values)).fetchall()
    return rows


def _append(connection: Connection, table: str, rows: pa.Table) -> None:
    if not rows.num_rows:
        return
    connection.register("incoming", rows)
    try:
        connection.execute(read_sql("append_rows").replace("$table", table)).fetchall()
    finally:
        connection.unregister("incoming")


def _time(time_s: int) -> datetime:
    return datetime.fromtimestamp(time_s, UTC)


def _unix(moment: datetime) -> int:
    return int(aware_utc(moment).timestamp())
