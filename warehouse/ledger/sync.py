"""Tables of the warehouse that follow the ledger: which changes are there already, and how more are put there.

What is asked of the ledger, and what the graph is told of it, is each room's own matter.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from contracts.world.proposal import Decision
from warehouse.duck.connection import Connection, transaction
from warehouse.ledger.ledger import Ledger, Row
from warehouse.statements import read_sql


@dataclass(frozen=True)
class TakenOver:
    """What a run took over: how many of its things had changed, and what the validator said of those it was told of."""

    changed: int
    decisions: tuple[Decision, ...]


@dataclass(frozen=True)
class Follower:
    """A room's tables. `counts` are the statements that count anew once rows have come, by the tables that they fill.

    Its newest change in the ledger is the question `<room>_newest_change`, its seq here the table `core_<room>__state`.
    """

    room: str
    counts: Mapping[str, str]

    def taken_over_to(self, connection: Connection) -> int:
        """The ledger's seq up to which changes are here; 0 before any are."""
        row = connection.execute(f"select seq from core_{self.room}__state").fetchone()  # noqa: S608 - a name of ours
        return int(row[0]) if row else 0

    def has_moved(self, ledger: Ledger, since: int) -> bool:
        """Whether something of the room changed in the ledger above a seq."""
        with ledger.read() as reader:
            row = reader.row(f"{self.room}_newest_change", seq=since)
        return row is not None and row["seq"] is not None

    def put(self, connection: Connection, coming: Mapping[str, Sequence[Row]], seq: int) -> None:
        """Put rows by the statements that take them, count anew where any come, and note `seq`: all or nothing."""
        with transaction(connection):
            for statement, rows in coming.items():
                if rows:
                    connection.execute(read_sql(statement), {"rows": json.dumps(rows)})
            if any(coming.values()):
                for table, statement in self.counts.items():
                    connection.execute(f"delete from {table}")  # noqa: S608 - a name of ours
                    connection.execute(read_sql(statement))
            state = f"insert or replace into core_{self.room}__state values (true, ?)"  # noqa: S608 - a name of ours
            connection.execute(state, [seq])
