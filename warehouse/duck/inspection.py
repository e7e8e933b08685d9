"""Inspects the warehouse independently of any room: columns, row counts, previews, the tables that a query reads, and
the order in which derived tables depend on one another."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

import duckdb

from warehouse.duck.tables import Rows, schema, tables
from warehouse.statements import read_sql

if TYPE_CHECKING:  # the API imports this module, and must not pay for polars
    import polars as pl

_PARAMETER = re.compile(r"\$[a-z_]+")


@dataclass(frozen=True)
class Column:
    """One column of a table with its DuckDB type and its meaning."""

    name: str
    type: str
    description: str


def columns_of(table: str) -> tuple[Column, ...]:
    """Returns the declared columns of a table in order."""
    return _schema()[table]


def count_rows(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    """Returns the number of rows of a table."""
    # A DuckDB relation would run two queries: for its columns, and for its rows.
    ((count,),) = connection.execute(f'select count(*) from "{table}"').fetchall()  # noqa: S608 - our own names
    return int(count)


@cache
def tables_read(statement: str) -> frozenset[str]:
    """Returns the tables that an SQL query reads, according to DuckDB's parser, which refuses `join ... using` here."""
    with empty_warehouse().cursor() as connection:
        return tables_read_on(connection, statement)


def tables_read_on(connection: duckdb.DuckDBPyConnection, statement: str) -> frozenset[str]:
    """Returns the same for a query that uses objects of a connection, such as macros."""
    return frozenset(connection.get_table_names(_PARAMETER.sub("null", statement)))


def preview(connection: duckdb.DuckDBPyConnection, question: str) -> pl.DataFrame:
    """Returns the rows of a statement as a frame for display. The statement must cast BIGNUM to text."""
    frame: pl.DataFrame = connection.sql(read_sql(question)).pl()
    return frame


def preview_table(connection: duckdb.DuckDBPyConnection, table: str) -> pl.DataFrame:
    """Returns rows of a table for display: those of the statement `preview_<table>`, else its last rows."""
    try:
        statement = read_sql(f"preview_{table}")
    except LookupError:
        statement = read_sql("last_rows").replace("$table", table)
    frame: pl.DataFrame = connection.sql(statement).pl()
    return frame


@cache
def derived_tables() -> Mapping[str, Rows]:
    """Returns the declared rows of every derived table by its name; a table comes after the tables that its rows read.

    Raises `CycleError` if tables depend on one another in a cycle.
    """
    derived = {table.name: table.rows for table in tables().values() if table.rows is not None}
    reads = {name: sorted(tables_read(rows.query)) for name, rows in derived.items()}
    return {name: derived[name] for name in TopologicalSorter(reads).static_order() if name in derived}


@cache
def empty_warehouse() -> duckdb.DuckDBPyConnection:
    """Returns an in-memory warehouse without rows. It stays open: opening one costs far more than the queries to it."""
    connection = duckdb.connect()
    connection.execute(schema())
    return connection


@cache
def _schema() -> dict[str, tuple[Column, ...]]:
    """Returns the columns of every table."""
    with empty_warehouse().cursor() as connection:
        rows = connection.execute(read_sql("columns")).fetchall()
    return {
        table: tuple(Column(name, kind, tables()[table].meanings[name]) for _, name, kind in group)
        for table, group in groupby(rows, itemgetter(0))
    }
