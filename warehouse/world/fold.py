"""Folds the ledger's graph events into the warehouse: one row for every state, with the times it was valid and
known."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import msgspec
import pyarrow as pa

from contracts.world.ontology import DOMAINS
from warehouse.cycles import without_cycles
from warehouse.duck.connection import Connection, transaction
from warehouse.duck.rows import replace_all
from warehouse.ledger.ledger import Ledger
from warehouse.statements import read_sql
from warehouse.world.events import as_recorded, event_texts_after

EVENTS_AT_ONCE = 200_000


@dataclass(frozen=True)
class WorldState:
    """The newest folded revision of the graph, and the number of folded events."""

    revision: int
    events: int


def read_world_state(connection: Connection) -> WorldState:
    """Returns the folded state; revision 0 before the first fold."""
    rows = connection.execute("select revision, events from core_world__state").fetchall()
    return WorldState(*rows[0]) if rows else WorldState(0, 0)


@without_cycles()
def fold_events(connection: Connection, ledger: Ledger) -> WorldState:
    """Folds every event up to the ledger's head, each page in one transaction. Returns the new state."""
    state = read_world_state(connection)
    while True:
        with ledger.read() as reader:
            rows = event_texts_after(reader, state.revision, EVENTS_AT_ONCE)
        if rows:
            state = _fold(connection, rows, WorldState(rows[-1][0], state.events + len(rows)))
        if len(rows) < EVENTS_AT_ONCE:
            break
    _count(connection, state.revision)
    return state


def _fold(connection: Connection, rows: list[tuple[int, str, str]], reached: WorldState) -> WorldState:
    with transaction(connection):
        for kind in ("node", "edge"):
            bodies = [as_recorded(kind, body) for _, of_kind, body in rows if of_kind == kind]
            if bodies:
                _fold_states(connection, f"{kind}s", bodies)
        replace_all(connection, "core_world__state", asdict(reached) | {"recorded_at": _recorded_at(rows[-1][2])})
    return reached


def _fold_states(connection: Connection, name: str, bodies: list[str]) -> None:
    connection.register("arriving_bodies", pa.table({"body": pa.array(bodies, pa.string())}))
    try:
        connection.execute(read_sql(f"arriving_{name}"))
    finally:
        connection.unregister("arriving_bodies")
    connection.execute(read_sql(f"fold_{name}"))
    connection.execute(f"drop table arriving_{name}")


class _Recorded(msgspec.Struct, rename="camel"):
    recorded_at: str


def _recorded_at(body: str) -> str:
    return msgspec.json.decode(body, type=_Recorded).recorded_at


def _count(connection: Connection, revision: int) -> None:
    with transaction(connection):
        connection.execute("delete from out_world__counts")
        connection.execute(read_sql("count_graph"), {"domains": list(DOMAINS), "revision": revision})
