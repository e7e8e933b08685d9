"""Records the tables that a document reads while it is read from an empty warehouse.

That covers every table, because a reader runs all its statements before it evaluates their rows.
"""

from functools import cache
from pathlib import Path
from typing import Any, cast

from contracts.discovery.installation import Installation
from contracts.publish.registry import Projection
from warehouse.document_context import DocumentContext
from warehouse.duck.connection import Connection
from warehouse.duck.inspection import empty_warehouse, tables_read
from warehouse.publish.readers import read


class RecordingConnection:
    """A connection that records the statements that it runs."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.statements: set[str] = set()

    def execute(self, statement: str, parameters: Any = None) -> Connection:
        """Runs a statement as the connection does, and records its text."""
        self.statements.add(statement)
        return self._connection.execute(statement, parameters)

    @property
    def tables(self) -> frozenset[str]:
        """Returns the tables that those statements read."""
        return frozenset().union(*map(tables_read, self.statements))


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
