"""Reading what a published document is made of: one way in for publishing and for the API's variants.

A room's read function is named in `READERS`; every other document is one row of SQL.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb
import msgspec
from pydantic import BaseModel

from contracts.description import description_for
from contracts.projections import Projection
from contracts.rendering import Content, Fields
from warehouse.duck import read_sql
from warehouse.holder_documents import read_holders_map, read_holders_temporal, read_token_holders
from warehouse.inspection import tables_read


@dataclass(frozen=True)
class Readable:
    """What a document may be read from: the `out_` tables, the directory of the holder lists they name, and the public
    address that documents name."""

    connection: duckdb.DuckDBPyConnection
    holders_dir: Path
    base_url: str


Read = Callable[[Readable, BaseModel | None], Content]
"""From stores and query parameters (None for the published default) to content. Raises `RequestProblem` on parameters
that fit their model and still name nothing."""


@dataclass(frozen=True)
class Reader:
    """A room's read function, and the questions (`sql/queries/<name>.sql`) that it asks."""

    read: Read
    questions: tuple[str, ...]


READERS: dict[str, Reader] = {
    "openapi": Reader(lambda readable, _: description_for(readable.base_url), ()),
    "token_holders": Reader(read_token_holders, ("holder_status", "holder_lists", "holder_sources")),
    "token_holders_map": Reader(read_holders_map, ("holder_status", "holder_lists")),
    "token_holders_map_temporal": Reader(read_holders_temporal, ("holder_status", "holder_lists")),
}
"""By the projection's name: documents that take more than one row of SQL."""


def read(projection: Projection, readable: Readable, parameters: BaseModel | None = None) -> Content:
    """The content of one document, by its room's function or by `sql/projections/<name>.sql`.

    The SQL returns exactly one row whose columns are the model's fields; `JSON` columns are embedded as they are.
    """
    if (reader := READERS.get(projection.name)) is not None:
        return reader.read(readable, parameters)
    return read_row(readable.connection, read_sql("projections", projection.name))


def read_row(connection: duckdb.DuckDBPyConnection, statement: str) -> Fields:
    """The one row of a question as fields. Raises `ValueError` on none or several."""
    cursor = connection.execute(statement)
    rows = cursor.fetchall()
    if len(rows) != 1:
        raise ValueError(f"a document is one row, and its question gave {len(rows)}")
    return {
        column[0]: msgspec.Raw(value.encode()) if column[1] == "JSON" and value is not None else value
        for column, value in zip(cursor.description or (), rows[0], strict=True)
    }


def tables_of(projection: Projection) -> set[str]:
    """The tables that a document's questions read: its lineage."""
    reader = READERS.get(projection.name)
    if reader is None:
        return tables_read(read_sql("projections", projection.name))
    return set().union(*(tables_read(read_sql("queries", question)) for question in reader.questions))


def holder_list_blocks(readable: Readable) -> list[int]:
    """Blocks of the holder lists that can be read, whose files go with a generation."""
    return [block for (block,) in readable.connection.execute(read_sql("queries", "readable_list_blocks")).fetchall()]
