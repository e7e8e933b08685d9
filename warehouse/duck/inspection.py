"""Inspects the warehouse independently of any room: columns, row counts, previews, tables that a query reads."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

import duckdb

from warehouse.duck.tables import schema
from warehouse.statements import read_sql

if TYPE_CHECKING:  # the API imports this module, and must not pay for polars
    import polars as pl

_PARAMETER = re.compile(r"\$[a-z_]+")


@dataclass(frozen=True)
class Column:
    """One column of a table: DuckDB's type, and its meaning."""

    name: str
    type: str
    description: str


def columns_of(table: str) -> tuple[Column, ...]:
    """Returns the declared columns of a table in order."""
    return _schema()[table]


def count_rows(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    """Returns the number of rows of a table."""
    ((count,),) = connection.table(table).count("*").fetchall()
    return int(count)


@cache
def tables_read(statement: str) -> frozenset[str]:
    """Returns the tables that a SQL query reads, as DuckDB's own parser lists them."""
    with empty_warehouse().cursor() as connection:
        return frozenset(connection.get_table_names(_PARAMETER.sub("null", statement)))


def preview(connection: duckdb.DuckDBPyConnection, question: str) -> pl.DataFrame:
    """Returns the rows of a statement as a frame for display. The statement has to cast BIGNUM to text."""
    frame: pl.DataFrame = connection.sql(read_sql(question)).pl()
    return frame


@cache
def empty_warehouse() -> duckdb.DuckDBPyConnection:
    """Returns a warehouse in memory without rows. It stays open: opening one costs far more than the queries to it."""
    connection = duckdb.connect()
    connection.execute(schema())
    return connection


@cache
def _schema() -> dict[str, tuple[Column, ...]]:
    """Returns the columns of every table."""
    with empty_warehouse().cursor() as connection:
        rows = connection.execute(read_sql("columns")).fetchall()
    return {table: tuple(Column(*row) for _, *row in group) for table, group in groupby(rows, itemgetter(0))}
