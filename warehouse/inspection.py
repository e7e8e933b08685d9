"""Looking at the warehouse without knowing its rooms: columns, row counts, previews, tables that a question reads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import duckdb

if TYPE_CHECKING:  # the API imports this module, and must not pay for polars
    import polars as pl

_PARAMETER = re.compile(r"\$[a-z_]+")


def describe_table(connection: duckdb.DuckDBPyConnection, table: str) -> tuple[list[tuple[str, str]], int]:
    """Columns as (name, DuckDB type) in order, and how many rows the table holds."""
    columns = connection.execute(
        "select column_name, data_type from duckdb_columns() where table_name = ? order by column_index", [table]
    ).fetchall()
    sizes = connection.execute("select estimated_size from duckdb_tables() where table_name = ?", [table]).fetchall()
    return columns, sizes[0][0] if sizes else 0


def tables_read(statement: str) -> set[str]:
    """The tables that a SQL question reads, as DuckDB's own parser lists them."""
    with duckdb.connect() as connection:
        return set(connection.get_table_names(_PARAMETER.sub("null", statement)))


def preview(connection: duckdb.DuckDBPyConnection, statement: str) -> pl.DataFrame:
    """The rows of a question as a frame, for showing. BIGNUM columns have to be cast to text in the statement."""
    frame: pl.DataFrame = connection.sql(statement).pl()
    return frame
