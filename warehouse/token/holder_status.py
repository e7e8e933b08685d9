"""Stores the small rows that accompany the holder lists: the token, how far the chain is read, and the holder counts of
other sources."""

from datetime import datetime

import duckdb

from contracts.token.holder_documents import Token
from warehouse.duck.connection import transaction
from warehouse.duck.rows import insert, replace_all
from warehouse.statements import read_sql
from warehouse.token.holders import first_row, read_state


def known_token(connection: duckdb.DuckDBPyConnection) -> Token | None:
    """Returns the token that the last run recorded, or None."""
    row = first_row(connection, read_sql("holder_status"))
    if row is None or row[1] is None:
        return None
    return Token(address=row[1], name=row[2], symbol=row[3], decimals=row[4])


def is_status_recorded(connection: duckdb.DuckDBPyConnection) -> bool:
    """Returns whether any run has recorded how far the chain is read."""
    return first_row(connection, read_sql("holder_status")) is not None


def record_status(
    connection: duckdb.DuckDBPyConnection,
    *,
    chain_id: int,
    token: Token | None,
    start_block: int,
    finalized_block: int | None,
    now: datetime,
) -> None:
    """Replaces the status row. `token` is None if none is configured; `finalized_block` is the block to read up to."""
    state = read_state(connection)
    block = None if state is None else state.block
    with transaction(connection):
        replace_all(
            connection,
            "out_holders__status",
            {
                "chain_id": chain_id,
                "token_address": token and token.address,
                "name": token and token.name,
                "symbol": token and token.symbol,
                "decimals": token and token.decimals,
                "block": block,
                "finalized_block": finalized_block,
                "backfill_percent": backfill_percent(start_block, block, finalized_block),
                "recorded_at": now,
            },
        )


def backfill_percent(start_block: int, block: int | None, finalized_block: int | None) -> float:
    """Returns the percentage of [start_block, finalized_block] that is read with `block`; 100 only if all of it is."""
    if block is None or finalized_block is None:
        return 0.0
    if block >= finalized_block:
        return 100.0
    return min(99.99, round(100 * max(0, block - start_block + 1) / (finalized_block - start_block + 1), 2))


def record_source(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    *,
    counters_holders: int | None,
    token_holders: int | None,
    reason: str | None,
    fetched_at: datetime,
) -> None:
    """Stores a source's answer as its latest one. A failed answer has a `reason` and no counts."""
    answer = {"source": source, "reason": reason, "fetched_at": fetched_at}
    theirs = counters_holders if counters_holders is not None else token_holders
    with transaction(connection):
        counts = {"counters_holders": counters_holders, "token_holders": token_holders}
        insert(connection, "raw_blockscout__holder_counts", answer | counts)
        connection.execute("delete from out_holders__sources where source = ?", [source])
        insert(connection, "out_holders__sources", answer | {"theirs": theirs})
