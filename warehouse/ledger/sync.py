"""Syncs the ledger's changes to the warehouse's tables, and records the last synced seq of each room.

Each room decides what it reads from the ledger and what it proposes to the graph.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from contracts.world.proposal import Decision
from warehouse.duck.connection import Connection, transaction
from warehouse.duck.rows import upsert
from warehouse.ledger.ledger import Ledger, Row
from warehouse.statements import read_sql


@dataclass(frozen=True)
class SyncResult:
    """The result of a sync: the number of changed entities, and the validator's decisions on what was proposed."""

    changed: int
    decisions: tuple[Decision, ...]


def forget_synced(connection: Connection) -> None:
    """Empties every table that is synced from the ledger, so that the next syncs read the ledger from its beginning."""
    for (statement,) in connection.execute(read_sql("empty_synced_tables")).fetchall():
        connection.execute(statement)


@dataclass(frozen=True)
class LedgerSync:
    """Syncs a room's tables; the tables derived from them are refilled later in the run.

    `state` is the table of the synced seq, `newest_change` the ledger's statement for the room's newest change.

    Example: with the last synced seq 7 and changes at 8 and 9, a run reads the rows after 7, then `put`s them and seq 9
    in one transaction. If a run dies before it commits, the next one starts from 7 again.
    """

    state: str
    newest_change: str

    def synced_to(self, connection: Connection) -> int:
        """Returns the ledger's seq up to which changes are synced; 0 before the first sync."""
        row = connection.execute(f"select seq from {self.state}").fetchone()  # noqa: S608 - our own name
        return int(row[0]) if row else 0

    def has_moved(self, ledger: Ledger, since: int) -> bool:
        """Returns True if anything of the room changed in the ledger after a seq."""
        with ledger.read() as reader:
            row = reader.row(self.newest_change, seq=since)
        return row is not None and row["seq"] is not None

    def put(self, connection: Connection, rows_by_statement: Mapping[str, Sequence[Row]], seq: int) -> None:
        """Writes rows with their statements and records `seq`, all or nothing."""
        with transaction(connection):
            for statement, rows in rows_by_statement.items():
                if rows:
                    connection.execute(read_sql(statement), {"rows": json.dumps(rows)})
            upsert(connection, self.state, {"only_row": True, "seq": seq})
