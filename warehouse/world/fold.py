"""Folds the ledger's graph events into the warehouse: one row per state, with the times at which it was valid and
known."""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import asdict, dataclass
from operator import itemgetter

import msgspec
import numpy as np
import pyarrow as pa

from contracts.world.ontology import DOMAINS
from warehouse.cycles import without_cycles
from warehouse.duck.columns import plain, texts
from warehouse.duck.connection import Connection, large_commits, transaction
from warehouse.duck.rows import replace_all
from warehouse.ledger.ledger import Ledger, Reader
from warehouse.ledger.sync import forget_synced
from warehouse.statements import read_sql
from warehouse.world.events import (
    Form,
    FormedEdge,
    as_recorded,
    event_texts_between,
    formed_edges_between,
    forms_of,
    has_event,
    head_revision,
)

EVENTS_AT_ONCE = 200_000
"""Maximum number of events per transaction."""

_READ_AT_ONCE = 50_000
"""Maximum number of events held as Python strings at a time: one part of a page. Small parts reuse their memory.
Joining parts would cost a microsecond per event, and DuckDB collects the rows of separate parts itself."""

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
    """Returns when the newest folded event was recorded, in the ledger's form; None before the first fold."""
    row = connection.execute(read_sql("newest_folded")).fetchone()
    return None if row is None else str(row[0])


@without_cycles()
def fold_events(connection: Connection, ledger: Ledger) -> WorldState:
    """Folds every event up to the ledger's head, each page in one transaction. Returns the new state.

    If the ledger is older than the folded events, because it was restored, everything is folded again, and other rooms
    sync again.
    """
    state = read_world_state(connection)
    with ledger.read() as reader:
        is_older = bool(state.events) and not has_event(reader, state.revision, folded_at(connection))
    if is_older:
        _log.warning("The ledger was restored and is older than the warehouse, which takes it over from its beginning")
        with transaction(connection):
            for table in FOLDED:
                connection.execute(f"delete from {table}")  # noqa: S608 - a constant name
            forget_synced(connection)
        state = WorldState(0, 0)
    while True:
        with ledger.read() as reader:
            page = _read_page(reader, state.revision)
        if page.events:
            state = WorldState(page.revision, state.events + page.events)
            _fold(connection, page, state)
        if page.events < EVENTS_AT_ONCE:
            break
    _count(connection, state.revision)
    return state


@dataclass(frozen=True)
class _Page:
    """Consecutive events, with the revision and the time of the last one.

    states    by kind, as rows of `body` (JSON) and `follows` (1 if the state follows an earlier one)
    formed    edges with forms, as rows of `revision`, `id`, `source`, `target`, `form`; None if there are none
    forms     their forms, as rows of `number`, and `head` and `tail` (JSON before and after an edge's revision)
    """

    events: int
    revision: int
    recorded_at: str
    states: dict[str, pa.Table]
    formed: pa.Table | None
    forms: pa.Table


def _read_page(reader: Reader, after: int) -> _Page:
    events, head = 0, head_revision(reader)
    none_read = (after, "")
    states, formed = _StatesOfPage(), _FormedOfPage()
    while events < EVENTS_AT_ONCE and after < head:
        until = after + min(_READ_AT_ONCE, EVENTS_AT_ONCE - events)
        events += states.read(reader, after, until) + formed.read(reader, after, until)
        after = until
    revision, recorded_at = max(none_read, states.newest, formed.newest)
    return _Page(events, revision, recorded_at, states.tables(), formed.edges(), formed.forms())


class _StatesOfPage:
    """Reads the states of a page that are stored as events, part by part."""

    def __init__(self) -> None:
        self.newest = (0, "")
        """The revision and the time of the last one."""
        self._parts: dict[str, list[pa.RecordBatch]] = {"node": [], "edge": []}

    def read(self, reader: Reader, after: int, until: int) -> int:
        """Reads a part, and returns its number of states."""
        rows = event_texts_between(reader, after, until)
        for kind, part in self._parts.items():
            if of_kind := [row for row in rows if row[1] == kind]:
                part.append(_states(of_kind))
        if rows:
            self.newest = (rows[-1][0], _recorded_at(rows[-1][2]))
        return len(rows)

    def tables(self) -> dict[str, pa.Table]:
        """Returns `_Page.states`."""
        return {kind: pa.Table.from_batches(part) for kind, part in self._parts.items() if part}


class _FormedOfPage:
    """Reads the edges of a page that follow from forms, part by part."""

    def __init__(self) -> None:
        self.newest = (0, "")
        self._parts: list[pa.RecordBatch] = []
        self._forms: dict[int, Form] = {}

    def read(self, reader: Reader, after: int, until: int) -> int:
        """Reads a part, and returns its number of edges."""
        edges = formed_edges_between(reader, after, until)
        if edges:
            self._forms |= forms_of(reader, edges)
            self._parts.append(_formed(edges))
            self.newest = (edges[-1].revision, self._forms[edges[-1].form].recorded_at)
        return len(edges)

    def edges(self) -> pa.Table | None:
        """Returns `_Page.formed`."""
        return pa.Table.from_batches(self._parts) if self._parts else None

    def forms(self) -> pa.Table:
        """Returns `_Page.forms`."""
        return _forms(self._forms.values())


def _states(rows: list[tuple[int, str, str, bool]]) -> pa.RecordBatch:
    bodies = texts([as_recorded(kind, body) for _, kind, body, _ in rows])
    follows = plain(np.fromiter(map(itemgetter(3), rows), np.uint8, len(rows)), pa.uint8())
    return pa.record_batch({"body": bodies, "follows": follows})


def _formed(edges: list[FormedEdge]) -> pa.RecordBatch:
    revisions, ids, sources, targets, forms = zip(*edges, strict=True)
    return pa.record_batch(
        {
            "revision": plain(np.array(revisions, np.int64), pa.int64()),
            "id": texts(ids),
            "source": texts(sources),
            "target": texts(targets),
            "form": plain(np.array(forms, np.int64), pa.int64()),
        }
    )


def _forms(forms: Collection[Form]) -> pa.Table:
    numbers = plain(np.array([form.number for form in forms], np.int64), pa.int64())
    heads, tails = texts([form.head for form in forms]), texts([form.tail for form in forms])
    return pa.table({"number": numbers, "head": heads, "tail": tails})


def _fold(connection: Connection, page: _Page, reached: WorldState) -> None:
    with large_commits(connection), transaction(connection):
        for kind, states in page.states.items():
            _fold_states(connection, f"{kind}s", states)
        if page.formed is not None:
            _fold_formed(connection, page.formed, page.forms)
        replace_all(connection, "core_world__state", asdict(reached) | {"recorded_at": page.recorded_at})


def _fold_states(connection: Connection, name: str, states: pa.Table) -> None:
    connection.register("arriving_bodies", states)
    try:
        connection.execute(read_sql(f"arriving_{name}"))
        connection.execute(read_sql(f"fold_{name}"))
    finally:
        connection.unregister("arriving_bodies")
    connection.execute(f"drop table arriving_{name}")


def _fold_formed(connection: Connection, edges: pa.Table, forms: pa.Table) -> None:
    connection.register("arriving_formed", edges)
    connection.register("arriving_forms", forms)
    try:
        connection.execute(read_sql("fold_formed"))
    finally:
        connection.unregister("arriving_formed")
        connection.unregister("arriving_forms")


class _Recorded(msgspec.Struct, rename="camel"):
    recorded_at: str


def _recorded_at(body: str) -> str:
    return msgspec.json.decode(body, type=_Recorded).recorded_at


def _count(connection: Connection, revision: int) -> None:
    with transaction(connection):
        connection.execute("delete from out_world__counts")
        connection.execute(read_sql("count_graph"), {"domains": list(DOMAINS), "revision": revision})
