"""Stores the terms of the token's pool, and decides whether its events are still needed: for prices before the first
observed one."""

from __future__ import annotations

from datetime import datetime

import duckdb

from contracts.market import Refusal
from contracts.pools import POOL_KINDS, PoolKind, PoolTerms
from warehouse.duck.connection import transaction
from warehouse.duck.rows import replace_all
from warehouse.statements import read_sql
from warehouse.token.holders import first_row


def recorded_kind(connection: duckdb.DuckDBPyConnection, pool: str, token: str) -> PoolKind | None:
    """Returns the kind of this pool if its terms for this token are recorded, else None; the caller then queries the
    pool again."""
    row = first_row(connection, read_sql("recorded_pool"))
    return POOL_KINDS.get(row[2]) if row is not None and row[:2] == (pool, token) else None


def record_pool(
    connection: duckdb.DuckDBPyConnection, pool: str, token: str, terms: PoolTerms | Refusal, now: datetime
) -> None:
    """Replaces the recorded pool. Drops prices of another pool from the series."""
    known = None if isinstance(terms, Refusal) else terms
    row = {
        "pool_address": pool,
        "token_address": token,
        "token_place": known and int(known.pair.token == known.pair.token1),
        "decimals": known and known.decimals[0],
        "other_decimals": known and known.decimals[1],
        "currency": known and known.currency,
        "kind": known and known.kind.name,
        "reason": terms.reason if isinstance(terms, Refusal) else None,
        "read_at": now,
    }
    with transaction(connection):
        before = first_row(connection, read_sql("recorded_pool"))
        if before is not None and before[:2] != (pool, token):
            for table in ("out_holders__daily", "out_holders__hourly"):
                connection.execute(read_sql("drop_pool_prices").replace("$table", table))
        replace_all(connection, "raw_chain__pool", row)


def first_observed(connection: duckdb.DuckDBPyConnection, token: str) -> datetime | None:
    """Returns the time (UTC) of the first price of the token that a source gave and that is not suspicious, or None."""
    row = first_row(connection, read_sql("first_observed"), {"token_address": token})
    return None if row is None else row[0]


def needs_pool_events(connection: duckdb.DuckDBPyConnection, token: str) -> bool:
    """Returns True while the pool's events have not been read up to the first observed price of the token."""
    row = first_row(connection, read_sql("needs_pool_events"), {"first_observed": first_observed(connection, token)})
    assert row is not None
    return bool(row[0])
