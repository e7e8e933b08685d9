"""Stores the graph's events in the ledger: appends them together with the current states, and reads them in order.

`write.py` decides whether an event may be written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from contracts.world.audit import batch_of
from contracts.world.identity import dedupe_key, own_id, statement_key
from contracts.world.plain_import import EdgeForm, NewEdge, NewNode, recorded_at, stored_body
from contracts.world.records import Edge, Event, Node, due_at, is_live
from warehouse.ledger.ledger import Reader, Row, Transaction

_encode = msgspec.json.Encoder().encode
_node = msgspec.json.Decoder(Node).decode
_edge = msgspec.json.Decoder(Edge).decode


def events_after(reader: Reader, seq: int, limit: int) -> list[Event]:
    """Returns at most `limit` events above `seq`, oldest first. Seqs between them are other changes of the ledger."""
    return decode_events(reader.rows("world_events_after", seq=seq, limit=limit))


def has_event(reader: Reader, seq: int, recorded_at: str | None) -> bool:
    """Returns whether the ledger has the event `seq` with that time, or with any time if `recorded_at` is None.

    It lacks the event if it was restored from a backup that is older than the data derived from the ledger.
    """
    known = recorded_at_of(reader, seq)
    return known is not None and recorded_at in (None, known)


def recorded_at_of(reader: Reader, seq: int) -> str | None:
    """Returns when an event was recorded, or None if the ledger has no event with this `seq`."""
    row = reader.row("world_event_recorded_at", seq=seq)
    return None if row is None else str(row["recorded_at"])


def event_texts_between(reader: Reader, after: int, until: int) -> list[tuple[int, str, str, bool]]:
    """Returns the events above `after` and up to `until`, except edges with forms, as `seq`, kind, state as JSON, and
    whether it follows an earlier state of its node or edge."""
    return reader.values("world_event_texts_between", after=after, until=until)


class FormedEdge(NamedTuple):
    """An edge whose state follows from the form with the number `form`."""

    revision: int
    id: str
    source: str
    target: str
    form: int


class Form(NamedTuple):
    """The members that edges of one import share: their JSON after the ids of the edge and its ends, split before and
    after the revision, and the time of the import. The number is the revision of the first of these edges."""

    number: int
    head: str
    tail: str
    recorded_at: str


def formed_edges_between(reader: Reader, after: int, until: int) -> list[FormedEdge]:
    """Returns the edges with forms above `after` and up to `until`, oldest first."""
    return list(map(FormedEdge._make, reader.values("world_formed_edges_between", after=after, until=until)))


def forms_of(reader: Reader, edges: Iterable[FormedEdge]) -> dict[int, Form]:
    """Returns the forms of edges by number. There must be at least one edge."""
    numbers = {edge.form for edge in edges}
    rows = reader.values("world_forms_between", first=min(numbers), last=max(numbers))
    return {form.number: form for form in map(Form._make, rows) if form.number in numbers}


def events_of_decision(reader: Reader, decision_seq: int) -> list[Event]:
    """Returns the events of one decision in the order in which they were written."""
    return decode_events(reader.rows("world_events_of_decision", decision_seq=decision_seq))


def head_revision(reader: Reader) -> int:
    """Returns the graph's newest revision, which is the `seq` of its newest event; 0 before the first."""
    row = reader.row("world_head")
    return 0 if row is None else int(row["seq"])


def public_counts(reader: Reader) -> tuple[dict[str, int], int]:
    """Counts live public nodes by domain (domains without nodes are missing) and live public edges between such
    nodes."""
    domains = {row["domain"]: int(row["nodes"]) for row in reader.rows("world_public_nodes")}
    edges = reader.row("world_public_edges")
    return domains, 0 if edges is None else int(edges["edges"])


def current_node(reader: Reader, node_id: str) -> Node | None:
    """Returns the newest state of a node of any owner, or None."""
    row = reader.row("world_node", id=node_id)
    return None if row is None else _node(row["body"])


def current_edge(reader: Reader, edge_id: str) -> Edge | None:
    """Returns the newest state of an edge of any owner, or None."""
    row = reader.row("world_edge", id=edge_id)
    return None if row is None else _edge(row["body"])


def decode_nodes(rows: Iterable[Row]) -> list[Node]:
    """Decodes nodes from rows that have a `body`."""
    return [_node(row["body"]) for row in rows]


def decode_edges(rows: Iterable[Row]) -> list[Edge]:
    """Decodes edges from rows that have a `body`."""
    return [_edge(row["body"]) for row in rows]


def decode_events(rows: Iterable[Row]) -> list[Event]:
    """Decodes events from rows that have `seq`, `kind` and `body`."""
    return [
        Event(seq=row["seq"], node=_node(row["body"]))
        if row["kind"] == "node"
        else Event(seq=row["seq"], edge=_edge(row["body"]))
        for row in rows
    ]


_LAST_FIELD, _WITHIN = '"origin":', 400


def as_recorded(kind: str, body: str) -> str:
    """Returns the state of an event as JSON with all fields."""
    if body.find(_LAST_FIELD, -_WITHIN) >= 0:
        return body
    # written by an earlier version with fewer fields
    return _encode(_node(body) if kind == "node" else _edge(body)).decode()


def event_body(event: Event) -> str:
    """Encodes the state of an event in its stored form."""
    return _encode(event.node or event.edge).decode()


def append_states(tx: Transaction, states: Sequence[Node | Edge], decision_seq: int) -> list[Event]:
    """Writes new states, in order, as events and as current states. Returns the events with their revisions."""
    seqs = tx.next_seqs(len(states))
    written = [msgspec.structs.replace(state, revision=seq) for state, seq in zip(states, seqs, strict=True)]
    current = [(state, _encode(state).decode()) for state in written]
    tx.append_rows("world_events", _EVENT_COLUMNS, [_event_row(state, body, decision_seq) for state, body in current])
    _put(tx, current)
    return [
        Event(seq=state.revision, node=state) if isinstance(state, Node) else Event(seq=state.revision, edge=state)
        for state in written
    ]


class Batch(NamedTuple):
    """The values that all rows of one decision of an import share."""

    actor: str
    owner: str
    now: str
    decision: int
    segment: int
    """The segment, in the indexes of random keys, for new nodes and edges."""


def append_batch(
    tx: Transaction, states: Sequence[Node | Edge | NewNode | NewEdge], forms: Sequence[EdgeForm], batch: Batch
) -> dict[str, Any]:
    """Does what `append_states` does for states of which some are new and already encoded. Returns the batch's digest.

    `forms` are the members that the new edges share. A form of several edges is stored once, and these edges have no
    events: their states follow from the form. The last state gets an event in the ordinary segment, because the index
    of times covers only that segment.
    """
    if batch.segment:
        tx.run("world_begin_segment", segment=batch.segment)
    seqs = tx.next_seqs(len(states))
    alike = Counter(state.shared for state in states if isinstance(state, NewEdge))
    shared = {place for place, edges in alike.items() if edges > 1}
    rows = _BatchRows(batch, [recorded_at(form, batch.now) for form in forms], shared, seqs[-1])
    bodies = [rows.add(state, seq) for state, seq in zip(states, seqs, strict=True)]
    rows.append(tx)
    return batch_of(bodies)


class _BatchRows:
    """Collects the rows of a batch. `shared` are the indexes of the forms that several of its edges have."""

    def __init__(self, batch: Batch, forms: Sequence[EdgeForm], shared: Collection[int], last: int) -> None:
        self._batch = batch
        self._own = own_id(batch.owner, "")
        self._forms = forms
        self._shared = shared
        self._last = last
        self._numbers: dict[int, int] = {}
        """The number of each stored form by its index."""
        self._events: list[tuple[Any, ...]] = []
        self._nodes: list[tuple[Any, ...]] = []
        self._edges: list[tuple[Any, ...]] = []
        self._others: list[tuple[Node | Edge, str]] = []

    def add(self, state: Node | Edge | NewNode | NewEdge, seq: int) -> str:
        """Adds the rows of a state, and returns it as JSON."""
        if isinstance(state, NewEdge):
            return self._add_edge(state, seq)
        if isinstance(state, NewNode):
            return self._add_node(state, seq)
        written = msgspec.structs.replace(state, revision=seq)
        body = _encode(written).decode()
        self._events.append(_event_row(written, body, self._batch.decision))
        self._others.append((written, body))
        return body

    def _add_node(self, node: NewNode, seq: int) -> str:
        body = stored_body(node.body, seq, self._batch.now)
        keys = (node.dedupe_key, node.fact_key)
        self._nodes.append((node.id, self._batch.owner, "private", node.domain, 1, *keys, None, seq, body))
        self._add_event(seq, "node", node.id, node.source, body)
        return body

    def _add_edge(self, edge: NewEdge, seq: int) -> str:
        edge_id, source, target = edge.id, edge.source, edge.target
        edge_type, stated_in, (head, tail) = self._forms[edge.shared]
        body = f'{{"id":"{edge_id}","source":"{source}","target":"{target}",{head},"revision":{seq},{tail}'
        form = None
        if seq != self._last and edge.shared in self._shared:
            form = self._numbers.setdefault(edge.shared, seq)
        else:
            self._add_event(seq, "edge", edge_id, stated_in, body)
        # searches by owner and source in the ordinary segment are only for edges from nodes without the owner's prefix
        segment = self._batch.segment if source.startswith(self._own) else _ORDINARY
        self._edges.append((seq, edge_id, source, target, edge_type, self._batch.owner, "private", 1, segment, form))
        return body

    def _add_event(self, seq: int, kind: str, entity_id: str, source: str, body: str) -> None:
        actor, _, now, decision, segment = self._batch
        segment = segment if seq != self._last else _ORDINARY
        self._events.append((seq, kind, entity_id, decision, actor, source, now, body, segment))

    def append(self, tx: Transaction) -> None:
        """Writes all rows."""
        tx.append_rows("world_edge_forms", _FORM_COLUMNS, self._form_rows())
        tx.append_rows("world_events", _EVENT_COLUMNS, self._events)
        tx.append_rows("world_nodes", _NODE_COLUMNS, self._nodes)
        tx.append_rows("world_edges", _EDGE_COLUMNS, self._edges)
        _put(tx, self._others)

    def _form_rows(self) -> list[tuple[Any, ...]]:
        actor, _, now, decision, _ = self._batch
        stored = ((number, self._forms[place]) for place, number in self._numbers.items())
        return [(number, decision, actor, form.stated_in, now, *form.body) for number, form in stored]


_EVENT_COLUMNS = ("seq", "kind", "entity_id", "decision_seq", "actor", "source", "recorded_at", "body", "segment")
_ORDINARY = 0
"""The segment of everything except new states of large imports, and of the last event of each batch."""

_FORM_COLUMNS = ("number", "decision_seq", "actor", "stated_in", "recorded_at", "head", "tail")
_NODE_COLUMNS = (*("id", "owner", "visibility", "domain", "live", "dedupe_key", "fact_key", "due", "revision", "body"),)
_EDGE_COLUMNS = ("revision", "id", "source", "target", "type", "owner", "visibility", "live", "segment", "form")


def keep_formed(tx: Transaction, edge_ids: Collection[str]) -> None:
    """Stores the states of edges that follow from forms as events, before anything about these edges changes."""
    if not edge_ids:
        return
    values = _encode(list(edge_ids)).decode()
    formed = [{"revision": row["revision"]} for row in tx.rows("world_formed_by_ids", values=values)]
    tx.run_each("world_keep_formed", formed)
    tx.run_each("world_release_form", formed)


def _event_row(state: Node | Edge, body: str, decision_seq: int) -> tuple[Any, ...]:
    kind, source = ("node", state.source) if isinstance(state, Node) else ("edge", state.stated_in)
    return (state.revision, kind, state.id, decision_seq, state.actor, source, state.recorded_at, body, _ORDINARY)


def _put(tx: Transaction, written: Sequence[tuple[Node | Edge, str]]) -> None:
    tx.run_each("world_put_node", [_node_row(state, body) for state, body in written if isinstance(state, Node)])
    newest = {state.id: _edge_row(state) for state, _ in written if isinstance(state, Edge)}
    keep_formed(tx, newest)
    tx.run_each("world_drop_edge", [{"id": edge_id} for edge_id in newest])
    tx.run_each("world_put_edge", list(newest.values()))


def _node_row(node: Node, body: str) -> dict[str, Any]:
    return {
        "id": node.id,
        "owner": node.owner or "",
        "visibility": node.visibility,
        "domain": node.domain,
        "live": int(is_live(node)),
        "dedupe_key": dedupe_key(node.owner, node.type, node.title),
        "fact_key": statement_key(node.owner, node.properties),
        "due": due_at(node),
        "revision": node.revision,
        "body": body,
    }


def _edge_row(edge: Edge) -> dict[str, Any]:
    return {
        "id": edge.id,
        "source": edge.source,
        "target": edge.target,
        "type": edge.type,
        "owner": edge.owner or "",
        "visibility": edge.visibility,
        "live": int(is_live(edge)),
        "due": due_at(edge),
        "revision": edge.revision,
    }
