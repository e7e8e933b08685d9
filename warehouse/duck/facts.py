"""Gathers facts, the row that a table's checks query returns, and records which facts passed before."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import duckdb

from warehouse.duck.rows import aware_utc, upsert
from warehouse.duck.tables import MEASURE, tables


def gather_facts(connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, Any]:
    """Returns the row of the checks of `table`: column -> value. Checks with `$after_block` read only new rows."""
    checks = tables()[table].checks
    assert checks is not None, f"{table} declares checks"
    row = connection.execute("select block from core_checks__watermarks where suite = ?", [table]).fetchone()
    parameters = {"after_block": row[0] if row else -1} if "$after_block" in checks.query else {}
    cursor = connection.execute(checks.query, parameters)
    names = [column[0] for column in cursor.description or ()]
    values = cursor.fetchone()
    return dict(zip(names, values or (), strict=True))


def violations_of(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the facts that count violations: 0 is right in each. The others count checked rows."""
    return {name: value for name, value in facts.items() if not name.startswith(MEASURE)}


def mark_checked(connection: duckdb.DuckDBPyConnection, table: str, block: int) -> None:
    """Records that every row of `table` up to `block` passed its checks."""
    upsert(connection, "core_checks__watermarks", {"suite": table, "block": block})


def last_pass(connection: duckdb.DuckDBPyConnection, table: str, asserted_sha256: str) -> datetime | None:
    """Returns the time (UTC) at which facts with this digest passed, or None where other facts passed last."""
    row = connection.execute(
        "select passed_at from core_checks__passed where suite = ? and asserted_sha256 = ?", [table, asserted_sha256]
    ).fetchone()
    return aware_utc(row[0]) if row else None


def mark_passed(connection: duckdb.DuckDBPyConnection, table: str, asserted_sha256: str, now: datetime) -> None:
    """Records the digest of the facts that passed."""
    passed = {"suite": table, "asserted_sha256": asserted_sha256, "passed_at": now}
    upsert(connection, "core_checks__passed", passed)
