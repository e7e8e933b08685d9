"""Folds the ledger's graph events into the warehouse: one row for every state, with the times it was valid and
known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import msgspec

from contracts.world.ontology import DOMAINS
from contracts.world.records import Edge, Event, Node, is_live
from warehouse.duck.connection import Connection, transaction
from warehouse.duck.rows import replace_all
from warehouse.ledger.ledger import Ledger
from warehouse.statements import read_sql
from warehouse.world.events import events_after

EVENTS_AT_ONCE = 20_000

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True)
class WorldState:
    """The newest folded revision of the graph, and the number of folded events."""

    revision: int
    events: int


def read_world_state(connection: Connection) -> WorldState:
    """Returns the folded state; revision 0 before the first fold."""
    rows = connection.execute("select revision, events from core_world__state").fetchall()
    return WorldState(*rows[0]) if rows else WorldState(0, 0)


def fold_events(connection: Connection, ledger: Ledger) -> WorldState:
    """Folds every event up to the ledger's head, each page in one transaction. Returns the new state."""
    state = read_world_state(connection)
    while True:
        with ledger.read() as reader:
            events = events_after(reader, state.revision, EVENTS_AT_ONCE)
        if events:
            state = _fold(connection, events, WorldState(events[-1].seq, state.events + len(events)))
        if len(events) < EVENTS_AT_ONCE:
            break
    _count(connection, state.revision)
    return state


def _fold(connection: Connection, events: list[Event], reached: WorldState) -> WorldState:
    nodes = [event.node for event in events if event.node is not None]
    edges = [event.edge for event in events if event.edge is not None]
    last = events[-1].node or events[-1].edge
    assert last is not None, "an event carries a node or an edge"
    with transaction(connection):
        if nodes:
            connection.execute(read_sql("arriving_nodes"), _arriving(nodes))
            connection.execute(read_sql("fold_nodes"))
            connection.execute("drop table arriving_nodes")
        if edges:
            connection.execute(read_sql("arriving_edges"), _arriving(edges))
            connection.execute(read_sql("fold_edges"))
            connection.execute("drop table arriving_edges")
        replace_all(connection, "core_world__state", asdict(reached) | {"recorded_at": last.recorded_at})
    return reached


def _arriving(states: Sequence[Node | Edge]) -> dict[str, Any]:
    return {"bodies": [_encode(state).decode() for state in states], "live": [is_live(state) for state in states]}


def _count(connection: Connection, revision: int) -> None:
    with transaction(connection):
        connection.execute("delete from out_world__counts")
        connection.execute(read_sql("count_graph"), {"domains": list(DOMAINS), "revision": revision})
