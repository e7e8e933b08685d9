"""Facts: one row that sums up a table; what may be true of it lives in `contracts/expectations/`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import duckdb

from warehouse.statements import read_sql


def gather_facts(connection: duckdb.DuckDBPyConnection, suite: str) -> dict[str, Any]:
    """The row of the statement `facts_<suite>`: column -> value, for rows that the suite has not passed yet."""
    row = connection.execute("select block from core_checks__watermarks where suite = ?", [suite]).fetchone()
    statement = read_sql(f"facts_{suite}")
    parameters = {"after_block": row[0] if row else -1} if "$after_block" in statement else {}
    cursor = connection.execute(statement, parameters)
    names = [column[0] for column in cursor.description or ()]
    values = cursor.fetchone()
    return dict(zip(names, values or (), strict=True))


def mark_checked(connection: duckdb.DuckDBPyConnection, suite: str, block: int) -> None:
    """Remember that every row up to `block` passed the suite."""
    connection.execute("insert or replace into core_checks__watermarks values (?, ?)", [suite, block])


def last_pass(connection: duckdb.DuckDBPyConnection, suite: str, asserted_sha256: str) -> datetime | None:
    """When (UTC) the suite passed what has this digest; None where what it passed last is another."""
    row = connection.execute(
        "select passed_at from core_checks__passed where suite = ? and asserted_sha256 = ?", [suite, asserted_sha256]
    ).fetchone()
    return row[0].replace(tzinfo=UTC) if row else None


def mark_passed(connection: duckdb.DuckDBPyConnection, suite: str, asserted_sha256: str, now: datetime) -> None:
    """Remember what the suite passed."""
    connection.execute(
        "insert or replace into core_checks__passed values (?, ?, ?)",
        [suite, asserted_sha256, now.astimezone(UTC).replace(tzinfo=None)],
    )
