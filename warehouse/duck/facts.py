"""Gathers facts about tables: the row that a table's checks query returns, and statistics of each column. Records which
facts passed.

DuckDB reduces a table to facts; whatever judges them never sees its rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import duckdb

from warehouse.duck.connection import transaction
from warehouse.duck.inspection import columns_of
from warehouse.duck.rows import aware_utc, insert, upsert
from warehouse.duck.tables import MEASURE, tables

_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UBIGINT", "UINTEGER", "FLOAT", "DOUBLE", "DECIMAL")
_DECILES = [round(tenth / 10, 1) for tenth in range(1, 10)]


@dataclass(frozen=True)
class Bounded:
    """A fact and the bounds within which it passes. `maximum` is None if there is no upper limit."""

    fact: str
    value: Any
    minimum: float = 0
    maximum: float | None = 0

    @property
    def within(self) -> bool:
        """Returns True if the value is a number within its bounds."""
        if type(self.value) not in (int, float):
            return False
        return bool(self.minimum <= self.value and (self.maximum is None or self.value <= self.maximum))


@dataclass(frozen=True)
class ColumnFacts:
    """Statistics of one column. `least`, `greatest` and `deciles` are None if its values are not numbers."""

    column_name: str
    rows: int
    nulls: int
    distinct_about: int
    least: float | None
    greatest: float | None
    deciles: list[float] | None


def gather_facts(connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, Any]:
    """Runs the checks of `table` and returns their row, by column. Checks with `$after_block` read only new rows."""
    checks = tables()[table].checks
    assert checks is not None, f"{table} declares checks"
    parameters = {}
    if "$after_block" in checks.query:
        row = connection.execute("select block from core_checks__watermarks where suite = ?", [table]).fetchone()
        parameters["after_block"] = row[0] if row else -1
    cursor = connection.execute(checks.query, parameters)
    names = [column[0] for column in cursor.description or ()]
    values = cursor.fetchone()
    return dict(zip(names, values or (), strict=True))


def gather_columns(connection: duckdb.DuckDBPyConnection, table: str) -> list[ColumnFacts]:
    """Returns statistics of every column of `table`, computed in one scan."""
    columns = columns_of(table)
    parts = ["count(*)"]
    for column in columns:
        name = f'"{column.name}"'
        parts += [f"count(*) - count({name})", f"approx_count_distinct({name})"]
        if column.type.startswith(_NUMBERS):
            number = f"{name}::double"
            parts += [f"min({number})", f"max({number})", f"approx_quantile({number}, {_DECILES})"]
        else:
            parts += ["null", "null", "null"]
    row = connection.execute(f"select {', '.join(parts)} from {table}").fetchone()  # noqa: S608 - our own names
    assert row is not None, "an aggregate gives a row"
    rows, values = row[0], row[1:]
    return [ColumnFacts(column.name, rows, *values[5 * place : 5 * place + 5]) for place, column in enumerate(columns)]


def record_columns(
    connection: duckdb.DuckDBPyConnection, table: str, facts: Sequence[ColumnFacts], now: datetime
) -> None:
    """Replaces the recorded statistics of the columns of `table`."""
    with transaction(connection):
        connection.execute("delete from out_checks__columns where table_name = ?", [table])
        rows = [{"table_name": table, **asdict(column), "gathered_at": now} for column in facts]
        insert(connection, "out_checks__columns", rows)


def recorded_columns(connection: duckdb.DuckDBPyConnection, table: str) -> list[ColumnFacts]:
    """Returns the recorded statistics of the columns of `table`; none if it bounds no column, since nothing judges them
    then."""
    if not tables()[table].bounds:
        return []
    rows = connection.execute(
        "select column_name, rows, nulls, distinct_about, least, greatest, deciles from out_checks__columns "
        "where table_name = ? order by column_name",
        [table],
    ).fetchall()
    return [ColumnFacts(*row) for row in rows]


def asserted_facts(table: str, facts: Mapping[str, Any], columns: Sequence[ColumnFacts] = ()) -> list[Bounded]:
    """Returns the facts to judge, with their bounds: counts of violations, and the extremes of columns that declare a
    range."""
    counts = [Bounded(name, value) for name, value in violations_of(facts).items()]
    bounds = tables()[table].bounds
    ranged = [
        Bounded(f"{column.column_name}.{edge}", value, *bounds[column.column_name])
        for column in columns
        if column.column_name in bounds and column.rows > column.nulls
        for edge, value in (("least", column.least), ("greatest", column.greatest))
    ]
    return counts + ranged


def violations_of(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the facts that count violations, each of which should be 0. The others count checked rows."""
    return {name: value for name, value in facts.items() if not name.startswith(MEASURE)}


def mark_checked(connection: duckdb.DuckDBPyConnection, table: str, block: int) -> None:
    """Records that every row of `table` up to `block` passed its checks."""
    upsert(connection, "core_checks__watermarks", {"suite": table, "block": block})


def last_pass(connection: duckdb.DuckDBPyConnection, table: str, digests: Sequence[str]) -> datetime | None:
    """Returns the time (UTC) at which facts with one of these digests passed, or None if others passed last."""
    row = connection.execute(
        "select passed_at from core_checks__passed where suite = ? and list_contains(?, asserted_sha256)",
        [table, list(digests)],
    ).fetchone()
    return aware_utc(row[0]) if row else None


def record_judged(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    asserted: Sequence[Bounded],
    judged_by: str,
    now: datetime,
    *,
    digest: str | None,
) -> None:
    """Replaces the published results of `table`. `digest` is that of the facts if all passed, else None."""
    checks = tables()[table].checks
    assert checks is not None, f"{table} declares checks"
    with transaction(connection):
        connection.execute("delete from out_checks__results where table_name = ?", [table])
        rows = [
            {
                "table_name": table,
                "check_name": checks.name,
                "blocking": checks.blocking,
                "fact": bounded.fact,
                "value": bounded.value if isinstance(bounded.value, int | float) else None,
                "minimum": bounded.minimum,
                "maximum": bounded.maximum,
                "passed": bounded.within,
                "judged_by": judged_by,
                "judged_at": now,
            }
            for bounded in asserted
        ]
        insert(connection, "out_checks__results", rows)
        if digest is None:
            connection.execute("delete from core_checks__passed where suite = ?", [table])
        else:
            upsert(connection, "core_checks__passed", {"suite": table, "asserted_sha256": digest, "passed_at": now})
