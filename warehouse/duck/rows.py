"""Writes rows by column name, and converts times: DuckDB's timestamps are UTC and carry no zone."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, overload

import duckdb

from warehouse.duck.tables import tables

Row = Mapping[str, Any]


def insert(connection: duckdb.DuckDBPyConnection, table: str, rows: Row | Iterable[Row]) -> None:
    """Inserts one row, or several with equal columns. Other columns are null; times with a zone are stored as UTC."""
    _write(connection, "insert", table, rows)


def upsert(connection: duckdb.DuckDBPyConnection, table: str, rows: Row | Iterable[Row]) -> None:
    """Inserts rows as `insert` does; each replaces the row with its primary key."""
    _write(connection, "insert or replace", table, rows)


def replace_all(connection: duckdb.DuckDBPyConnection, table: str, rows: Row | Iterable[Row]) -> None:
    """Deletes every row of the table and inserts these. The caller holds the transaction."""
    connection.execute(f"delete from {table}")  # noqa: S608 - our own name
    insert(connection, table, rows)


def refill(connection: duckdb.DuckDBPyConnection, table: str) -> None:
    """Replaces the rows of a derived table by those of its declaration's query. The caller holds the transaction."""
    rows = tables()[table].rows
    assert rows is not None, f"{table} declares its rows"
    connection.execute(f"delete from {table}")  # noqa: S608 - our own name
    connection.execute(f"insert into {table} by name {rows.query}")


def _write(connection: duckdb.DuckDBPyConnection, verb: str, table: str, rows: Row | Iterable[Row]) -> None:
    """Writes all rows by one statement with a parameter per column: one per value takes ten times as long to bind."""
    batch = [rows] if isinstance(rows, Mapping) else list(rows)
    if batch:
        names = list(batch[0])
        columns, values = ", ".join(f'"{name}"' for name in names), ", ".join(["unnest(?)"] * len(names))
        parameters = [[_stored(row[name]) for row in batch] for name in names]
        # Fetched to the end: an open result would block the connection's next use.
        connection.execute(f"{verb} into {table} ({columns}) select {values}", parameters).fetchall()


def _stored(value: Any) -> Any:
    return naive_utc(value) if isinstance(value, datetime) and value.tzinfo is not None else value


@overload
def naive_utc(moment: datetime) -> datetime: ...
@overload
def naive_utc(moment: None) -> None: ...
def naive_utc(moment: datetime | None) -> datetime | None:
    """Converts a time with a zone to DuckDB's form."""
    return None if moment is None else moment.astimezone(UTC).replace(tzinfo=None)


@overload
def aware_utc(moment: datetime) -> datetime: ...
@overload
def aware_utc(moment: None) -> None: ...
def aware_utc(moment: datetime | None) -> datetime | None:
    """Adds the zone to a time from DuckDB."""
    if moment is None:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
