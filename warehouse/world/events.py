"""The graph's events in the ledger: appending them with what is current, and reading them in order.

Whether an event may be written is decided in `write.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from sqlalchemy import RowMapping

from contracts.world.identity import dedupe_key, fact_key
from contracts.world.ontology import Ontology
from contracts.world.records import Edge, Event, Node, is_live
from warehouse.ledger import Reader, Transaction

NODE_CHANGED = "world_node"
EDGE_CHANGED = "world_edge"

_encode = msgspec.json.Encoder().encode
_node = msgspec.json.Decoder(Node).decode
_edge = msgspec.json.Decoder(Edge).decode


def events_after(reader: Reader, seq: int, limit: int) -> list[Event]:
    """At most `limit` accepted changes above `seq`, oldest first. Between two of them other changes have their seq."""
    return decode_events(reader.rows("world_events_after", seq=seq, limit=limit))


def events_of_decision(reader: Reader, decision_seq: int) -> list[Event]:
    """What one decision let in, in the order of writing."""
    return decode_events(reader.rows("world_events_of_decision", decision_seq=decision_seq))


def head_revision(reader: Reader) -> int:
    """The graph's newest revision: `seq` of its newest event; 0 before the first."""
    row = reader.row("world_head")
    return 0 if row is None else int(row["seq"])


def public_counts(reader: Reader) -> tuple[dict[str, int], int]:
    """Live public nodes by domain (domains without any are missing), and live public edges between such nodes."""
    domains = {row["domain"]: int(row["nodes"]) for row in reader.rows("world_public_nodes")}
    edges = reader.row("world_public_edges")
    return domains, 0 if edges is None else int(edges["edges"])


def current_node(reader: Reader, node_id: str) -> Node | None:
    """The newest state of a node, whoever owns it."""
    row = reader.row("world_node", id=node_id)
    return None if row is None else _node(row["body"])


def current_edge(reader: Reader, edge_id: str) -> Edge | None:
    """The newest state of an edge, whoever owns it."""
    row = reader.row("world_edge", id=edge_id)
    return None if row is None else _edge(row["body"])


def decode_nodes(rows: Iterable[RowMapping]) -> list[Node]:
    """Nodes from rows that have a `body`."""
    return [_node(row["body"]) for row in rows]


def decode_edges(rows: Iterable[RowMapping]) -> list[Edge]:
    """Edges from rows that have a `body`."""
    return [_edge(row["body"]) for row in rows]


def decode_events(rows: Iterable[RowMapping]) -> list[Event]:
    """Events from rows that have `seq`, `kind` and a `body`."""
    return [
        Event(seq=row["seq"], node=_node(row["body"]))
        if row["kind"] == "node"
        else Event(seq=row["seq"], edge=_edge(row["body"]))
        for row in rows
    ]


def append_node(tx: Transaction, ontology: Ontology, state: Node, decision_seq: int) -> Node:
    """Write the new state of a node as an event and as what is current. Gives it with its revision."""
    seq = tx.changed(NODE_CHANGED, state.id)
    written = msgspec.structs.replace(state, revision=seq)
    body = _encode(written).decode()
    _append(tx, "node", written.id, written.actor, written.source, written.recorded_at, seq, decision_seq, body)
    tx.run(
        "world_put_node",
        id=written.id,
        owner=written.owner or "",
        visibility=written.visibility,
        domain=written.domain,
        live=int(is_live(written)),
        dedupe_key=dedupe_key(written.owner, written.type, written.title),
        fact_key=fact_key(ontology, written.owner, written.properties),
        revision=seq,
        body=body,
    )
    return written


def append_edge(tx: Transaction, state: Edge, decision_seq: int) -> Edge:
    """Write the new state of an edge as an event and as what is current. Gives it with its revision."""
    seq = tx.changed(EDGE_CHANGED, state.id)
    written = msgspec.structs.replace(state, revision=seq)
    body = _encode(written).decode()
    _append(tx, "edge", written.id, written.actor, written.stated_in, written.recorded_at, seq, decision_seq, body)
    tx.run(
        "world_put_edge",
        id=written.id,
        source=written.source,
        target=written.target,
        type=written.type,
        owner=written.owner or "",
        visibility=written.visibility,
        live=int(is_live(written)),
        revision=seq,
        body=body,
    )
    return written


def _append(
    tx: Transaction,
    kind: str,
    entity_id: str,
    actor: str,
    source: str,
    recorded_at: str,
    seq: int,
    decision_seq: int,
    body: str,
) -> None:
    parameters: dict[str, Any] = {"kind": kind, "entity_id": entity_id, "actor": actor, "source": source}
    tx.run(
        "world_append_event",
        seq=seq,
        decision_seq=decision_seq,
        recorded_at=recorded_at,
        body=body,
        **parameters,
    )
