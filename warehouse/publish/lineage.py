"""Records the tables that a document reads while it is read from an empty warehouse.

That covers every table, because a reader runs all its statements before it evaluates their rows.
"""

import re
from functools import cache, partial
from pathlib import Path
from typing import Any, cast

from contracts.discovery.installation import Installation
from contracts.publish.registry import Projection
from warehouse.document_context import DocumentContext
from warehouse.duck.connection import Connection
from warehouse.duck.inspection import empty_warehouse, tables_read, tables_read_on
from warehouse.publish.readers import read

_MACROS = re.compile(r"\bcreate or replace temp macro\b")


class RecordingConnection:
    """A connection that records the statements that it runs. Where some create macros, the others may use them."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.statements: set[str] = set()
        self.has_macros = False

    def execute(self, statement: str, parameters: Any = None) -> Connection:
        """Runs a statement as the connection does, and records the text of one that may read tables."""
        if _MACROS.search(statement):
            self.has_macros = True
        else:
            self.statements.add(statement)
        return self._connection.execute(statement, parameters)

    @property
    def tables(self) -> frozenset[str]:
        """Returns the tables that those statements read."""
        read = partial(tables_read_on, self._connection) if self.has_macros else tables_read
        return frozenset().union(*map(read, self.statements))


@cache
def tables_of(projection: Projection) -> frozenset[str]:
    """Returns the tables that a document reads: its lineage. Empty where it is made without a store."""
    if projection.make is not None or projection.describe is not None:
        return frozenset()
    with empty_warehouse().cursor() as connection:
        recording = RecordingConnection(connection)
        read(projection, DocumentContext(cast(Connection, recording), Path(), _anywhere()))
        return recording.tables


@cache
def _anywhere() -> Installation:
    """Returns an installation for documents that nobody gets. Its settings take longer to make than to read with."""
    return Installation("https://svc.invalid")
