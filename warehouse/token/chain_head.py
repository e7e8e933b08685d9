"""The chain's head as the last run saw it: what reading aims at, and how a tick knows that nothing is new."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from datetime import UTC, datetime

import duckdb

from contracts.token.holder_documents import ConsistencyLevel


@dataclass(frozen=True)
class SeenHead:
    """Newest block and finalized block with their hashes (0x hex), and how the finalized one was chosen."""

    head_block: int
    head_hash: str
    finalized_block: int
    finalized_hash: str
    level: ConsistencyLevel


def record_head(connection: duckdb.DuckDBPyConnection, seen: SeenHead, *, now: datetime) -> None:
    """Replace the one row. `now` is when the chain answered (UTC)."""
    connection.begin()
    try:
        connection.execute("delete from raw_chain__head")
        moment = now.astimezone(UTC).replace(tzinfo=None)
        connection.execute("insert into raw_chain__head values (?, ?, ?, ?, ?, ?)", [*astuple(seen), moment])
        connection.commit()
    except BaseException:
        connection.rollback()
        raise


def read_head(connection: duckdb.DuckDBPyConnection) -> SeenHead | None:
    """What the last run saw; None before the first."""
    rows = connection.execute(
        "select head_block, head_hash, finalized_block, finalized_hash, level from raw_chain__head"
    ).fetchall()
    if not rows:
        return None
    head_block, head_hash, finalized_block, finalized_hash, level = rows[0]
    return SeenHead(head_block, head_hash, finalized_block, finalized_hash, ConsistencyLevel(level))
