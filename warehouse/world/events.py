"""Stores the graph's events in the ledger: appends them together with the current states, and reads them in order.

`write.py` decides whether an event may be written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from contracts.world.identity import dedupe_key, statement_key
from contracts.world.records import Edge, Event, Node, due_at, is_live
from warehouse.ledger.ledger import Reader, Row, Transaction

NODE_CHANGED = "world_node"
EDGE_CHANGED = "world_edge"

_encode = msgspec.json.Encoder().encode
_node = msgspec.json.Decoder(Node).decode
_edge = msgspec.json.Decoder(Edge).decode


def events_after(reader: Reader, seq: int, limit: int) -> list[Event]:
    """Returns at most `limit` events above `seq`, oldest first. Other changes of the ledger use the seqs between
    them."""
    return decode_events(reader.rows("world_events_after", seq=seq, limit=limit))


def events_of_decision(reader: Reader, decision_seq: int) -> list[Event]:
    """Returns the events of one decision in the order of writing."""
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


def event_body(event: Event) -> str:
    """Encodes the state of an event as it is stored."""
    return _encode(event.node or event.edge).decode()


def append_states(tx: Transaction, states: Sequence[Node | Edge], decision_seq: int) -> list[Event]:
    """Writes new states, in order, as events and as current states. Returns the events with their revisions."""
    seqs = tx.changed_each([(NODE_CHANGED if isinstance(state, Node) else EDGE_CHANGED, state.id) for state in states])
    written = [msgspec.structs.replace(state, revision=seq) for state, seq in zip(states, seqs, strict=True)]
    bodies = [_encode(state).decode() for state in written]
    tx.run_each(
        "world_append_event",
        [
            {
                "seq": state.revision,
                "kind": "node" if isinstance(state, Node) else "edge",
                "entity_id": state.id,
                "decision_seq": decision_seq,
                "actor": state.actor,
                "source": state.source if isinstance(state, Node) else state.stated_in,
                "recorded_at": state.recorded_at,
                "body": body,
            }
            for state, body in zip(written, bodies, strict=True)
        ],
    )
    current = list(zip(written, bodies, strict=True))
    tx.run_each("world_put_node", [_node_row(state, body) for state, body in current if isinstance(state, Node)])
    tx.run_each("world_put_edge", [_edge_row(state, body) for state, body in current if isinstance(state, Edge)])
    return [
        Event(seq=state.revision, node=state) if isinstance(state, Node) else Event(seq=state.revision, edge=state)
        for state in written
    ]


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


def _edge_row(edge: Edge, body: str) -> dict[str, Any]:
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
        "body": body,
    }
