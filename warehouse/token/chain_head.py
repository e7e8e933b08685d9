"""Records the chain's head at the last run: the block to read up to. A tick compares it to see whether anything is new.

This module doesn't read the chain.
"""

from dataclasses import asdict, dataclass
from datetime import datetime

import duckdb

from contracts.token.holder_documents import ConsistencyLevel
from warehouse.duck.connection import transaction
from warehouse.duck.rows import replace_all


@dataclass(frozen=True)
class SeenHead:
    """The newest and the finalized block with their hashes (0x hex), and how the finalized one was chosen."""

    head_block: int
    head_hash: str
    finalized_block: int
    finalized_hash: str
    level: ConsistencyLevel


def record_head(connection: duckdb.DuckDBPyConnection, seen: SeenHead, *, now: datetime) -> None:
    """Replaces the recorded head. `now` is the time at which the chain answered (UTC)."""
    with transaction(connection):
        replace_all(connection, "raw_chain__head", asdict(seen) | {"observed_at": now})


def read_head(connection: duckdb.DuckDBPyConnection) -> SeenHead | None:
    """Returns the head at the last run, or None before the first."""
    rows = connection.execute(
        "select head_block, head_hash, finalized_block, finalized_hash, level from raw_chain__head"
    ).fetchall()
    if not rows:
        return None
    head_block, head_hash, finalized_block, finalized_hash, level = rows[0]
    return SeenHead(head_block, head_hash, finalized_block, finalized_hash, ConsistencyLevel(level))
