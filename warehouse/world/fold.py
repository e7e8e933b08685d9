"""Folds the ledger's graph events into the warehouse: one row for every state, with the times it was valid and
known."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass

import msgspec
import pyarrow as pa

from contracts.world.ontology import DOMAINS
from warehouse.cycles import without_cycles
from warehouse.duck.columns import texts
from warehouse.duck.connection import Connection, large_commits, transaction
from warehouse.duck.rows import replace_all
from warehouse.ledger.ledger import Ledger
from warehouse.ledger.sync import forget_synced
from warehouse.statements import read_sql
from warehouse.world.events import as_recorded, event_texts_after, has_event

EVENTS_AT_ONCE = 200_000
FOLDED = ("core_world__nodes", "core_world__edges", "out_world__nodes", "out_world__edges", "core_world__state")

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class WorldState:
    """The newest folded revision of the graph, and the number of folded events."""

    revision: int
    events: int


def read_world_state(connection: Connection) -> WorldState:
    """Returns the folded state; revision 0 before the first fold."""
    rows = connection.execute("select revision, events from core_world__state").fetchall()
    return WorldState(*rows[0]) if rows else WorldState(0, 0)


def folded_at(connection: Connection) -> str | None:
    """Returns when the newest folded event was recorded, as the ledger has it; None before the first fold."""
    row = connection.execute(read_sql("newest_folded")).fetchone()
    return None if row is None else str(row[0])


@without_cycles()
def fold_events(connection: Connection, ledger: Ledger) -> WorldState:
    """Folds every event up to the ledger's head, each page in one transaction. Returns the new state.

    Where the ledger is older than what was folded of it, everything is folded again, and synced again by other rooms.
    """
    state = read_world_state(connection)
    with ledger.read() as reader:
        is_older = bool(state.events) and not has_event(reader, state.revision, folded_at(connection))
    if is_older:
        _log.warning("The ledger was restored and is older than the warehouse, which takes it over from its beginning")
        with transaction(connection):
            for table in FOLDED:
                connection.execute(f"delete from {table}")  # noqa: S608 - a name of ours
            forget_synced(connection)
        state = WorldState(0, 0)
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
    with large_commits(connection), transaction(connection):
        for kind in ("node", "edge"):
            bodies = [as_recorded(kind, body) for _, of_kind, body in rows if of_kind == kind]
            if bodies:
                _fold_states(connection, f"{kind}s", bodies)
        replace_all(connection, "core_world__state", asdict(reached) | {"recorded_at": _recorded_at(rows[-1][2])})
    return reached


def _fold_states(connection: Connection, name: str, bodies: list[str]) -> None:
    connection.register("arriving_bodies", pa.table({"body": texts(bodies)}))
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
