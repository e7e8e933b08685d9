"""Tells which tables a document reads. They are recorded while it is read from an empty warehouse.

That covers every table, because a reader runs all its statements before it evaluates their rows. `lineage.json` beside
this module holds what was recorded, and `python -m warehouse.publish.lineage` writes it: recording takes longer than
all else that a process does for the assets of documents.
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


def tables_of(projection: Projection) -> frozenset[str]:
    """Returns the tables that a document reads: its lineage. Empty where it is made without a store."""
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
        # These settings take longer to make than to read with.
        read(projection, DocumentContext(cast(Connection, recording), Path(), Installation("https://svc.invalid")))
        return recording.tables


if __name__ == "__main__":
    FILE.write_text(text())
