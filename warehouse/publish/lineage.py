"""Determines which tables a document reads, by recording the statements while it is read from an empty warehouse.

That covers every table, because a reader runs all its statements before it evaluates their rows. `lineage.json` next to
this module contains the result, and `python -m warehouse.publish.lineage` writes it: recording takes longer than
everything else that a process does for the assets of documents.
"""

import json
import re
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, cast

from contracts.discovery.installation import Installation
from contracts.publish.projection import Projection
from contracts.publish.registry import PROJECTIONS
from warehouse.document_context import DocumentContext
from warehouse.duck.connection import Connection
from warehouse.duck.inspection import empty_warehouse, tables_read, tables_read_on
from warehouse.publish.readers import read

FILE = Path(__file__).with_name("lineage.json")

_MACROS = re.compile(r"\bcreate or replace temp macro\b")


class RecordingConnection:
    """A connection that records the statements that it runs. If some of them create macros, others may use these."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.statements: set[str] = set()
        self.has_macros = False

    def execute(self, statement: str, parameters: Any = None) -> Connection:
        """Runs a statement on the connection, and records its text if it may read tables."""
        if _MACROS.search(statement):
            self.has_macros = True
        else:
            self.statements.add(statement)
        return self._connection.execute(statement, parameters)

    @property
    def tables(self) -> frozenset[str]:
        """Returns the tables that the recorded statements read."""
        read = partial(tables_read_on, self._connection) if self.has_macros else tables_read
        return frozenset().union(*map(read, self.statements))


def tables_of(projection: Projection) -> frozenset[str]:
    """Returns the tables that a document reads, its lineage. Empty if it is built without a store."""
    return _recorded().get(projection.name, frozenset())


@cache
def _recorded() -> Mapping[str, frozenset[str]]:
    return {name: frozenset(tables) for name, tables in json.loads(FILE.read_bytes()).items()}


def text() -> str:
    """Records every document that is read from a store, and returns the content of the file."""
    recorded = {row.name: sorted(_tables_read(row)) for row in PROJECTIONS if row.make is None and row.describe is None}
    return json.dumps(recorded, indent=1, sort_keys=True) + "\n"


def _tables_read(projection: Projection) -> frozenset[str]:
    with empty_warehouse().cursor() as connection:
        recording = RecordingConnection(connection)
        # A full installation would take longer to create than the reading does.
        read(projection, DocumentContext(cast(Connection, recording), Path(), Installation("https://svc.invalid")))
        return recording.tables


if __name__ == "__main__":
    FILE.write_text(text())
