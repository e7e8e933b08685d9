"""Reads the content of a published document from the source named in its registry row, for publishing and the API."""

from collections.abc import Callable
from functools import cache
from pkgutil import resolve_name

import duckdb
import msgspec
from pydantic import BaseModel

from contracts.bidwall import ETH_PRICE_PATH
from contracts.discovery.installation import installation_of
from contracts.publish.projection import Content, Fields, Projection
from contracts.settings import Settings
from warehouse.access.signing_keys import SigningKeys
from warehouse.document_context import DocumentContext
from warehouse.statements import read_sql
from warehouse.token.holder_lists import lists_dir

SHOWN_IN_VARIANTS = (ETH_PRICE_PATH,)
"""Documents that the run of every minute publishes, which leaves the query copy unchanged."""


def context_for(connection: duckdb.DuckDBPyConnection, settings: Settings) -> DocumentContext:
    """Creates the context for publishing, with the signing keys.

    Raises `SettingsInvalid` or `StoreUnusable` if the keys are unusable.
    """
    installation = installation_of(settings, SigningKeys(settings).current())
    return DocumentContext(connection, lists_dir(settings.data_dir), installation)


def read(projection: Projection, context: DocumentContext, parameters: BaseModel | None = None) -> Content:
    """Reads the content of one document that shows no other documents. `parameters` is None for the published default.

    Raises `RequestProblem` on parameters that fit their model but refer to nothing that exists.
    """
    if projection.make is not None:
        return projection.made_for(context.installation)
    if projection.reader is None:
        return read_row(context.connection, read_sql(projection.name))
    reader = reader_of(projection.reader)
    if projection.reader_argument is not None:
        return reader(context, projection.reader_argument)
    return reader(context) if projection.parameters is None else reader(context, parameters or projection.parameters())


@cache
def reader_of(name: str) -> Callable[..., Content]:
    """Returns the room's function that a registry row names as its reader; imports it if necessary."""
    reader: Callable[..., Content] = resolve_name(f"warehouse.{name}")
    return reader


def read_row(connection: duckdb.DuckDBPyConnection, statement: str) -> Fields:
    """Returns the only row of a statement as fields; `JSON` columns are embedded unchanged.

    Raises `ValueError` if it gives no row, or several.
    """
    cursor = connection.execute(statement)
    rows = cursor.fetchall()
    if len(rows) != 1:
        raise ValueError(f"a document is one row, and its statement gave {len(rows)}")
    return {
        column[0]: msgspec.Raw(value.encode()) if column[1] == "JSON" and value is not None else value
        for column, value in zip(cursor.description or (), rows[0], strict=True)
    }


def holders_by_list(context: DocumentContext) -> dict[int, int]:
    """Returns the number of holders of each readable list, whose files belong to a generation, by block."""
    return dict(context.connection.execute(read_sql("readable_lists")).fetchall())
