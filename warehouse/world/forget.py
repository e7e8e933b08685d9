"""Serves the rights of persons: deletes the texts of nodes and edges; tombstones and the chain of decisions stay."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from contracts.errors import OwnerInvalid
from contracts.standing import UNSTATED
from contracts.times import utc_text
from contracts.world.capsule import owner_of
from contracts.world.proposal import Actor, Proposal, StageResult
from contracts.world.records import Edge, Event, Node, recorded_again
from warehouse.ledger.ledger import Ledger, Reader, Transaction
from warehouse.world.audit import DECISION, record
from warehouse.world.due import placed_again
from warehouse.world.events import append_states, decode_edges, decode_events, decode_nodes
from warehouse.world.view import LedgerView

FORGOTTEN = "forgotten"
"""Owner, actor and source of tombstones."""

_OWNER = re.compile(r"0x[0-9a-f]{40}|(?:local|profile|capsule):\S.*")
_encode = msgspec.json.Encoder().encode


def forget_owner(ledger: Ledger, owner: str, operator: str) -> int:
    """Turns every private node and edge of `owner` into a tombstone, in all its states. Returns their number.

    Decisions on the owner's proposals, and on those of the capsules that the owner claimed, are deleted with their
    salts; so are waiting proposals. What became public belongs to everybody, and what changed hands belongs to its new
    owner: both stay, without their earlier states, and an operator ends what is public. Published files are replaced by
    the next generation. Raises `OwnerInvalid`.
    """
    owner = owner_named(owner)
    with ledger.transaction() as tx:
        nodes = decode_nodes(tx.rows("world_nodes_of_owner", owner=owner))
        edges = decode_edges(tx.rows("world_edges_of_owner", owner=owner))
        capsules = [owner_of(row["id"]) for row in tx.rows("world_capsules_of_owner", owner=owner)]
        given_up: dict[str, Node | Edge] = {}
        for proposer in (owner, *capsules):
            proposed = {"actor": proposer, "owner": owner, "forgotten": FORGOTTEN}
            given_up |= {node.id: node for node in decode_nodes(tx.rows("world_nodes_given_up", **proposed))}
            given_up |= {edge.id: edge for edge in decode_edges(tx.rows("world_edges_given_up", **proposed))}
            tx.run("world_forget_payloads", owner=proposer)
            tx.run("world_forget_pending", owner=proposer)
            tx.run("world_forget_requests", scope=proposer)
            tx.run("world_forget_imports", owner=proposer)
            tx.run("world_forget_origin_decisions", owner=proposer)
        tx.run("world_forget_claims", owner=owner, forgotten=FORGOTTEN)
        erased = _erase(tx, nodes, edges, operator, given_up=list(given_up.values()))
    ledger.scrub()
    return erased


def owner_named(text: str) -> str:
    """Returns the owner that a text names, as the ledger holds it. Raises `OwnerInvalid`."""
    owner = _normalised(text)
    if not _OWNER.fullmatch(owner):  # the ledger marks public state with an empty owner
        raise OwnerInvalid(f"{owner!r} names no owner.", cure="Give an address, local:NAME, profile:ID or capsule:ID.")
    return owner


def callers_of(reader: Reader, owner: str) -> list[str]:
    """Returns the ids of the keys and sessions that act for an owner."""
    return [row["caller"] for row in reader.rows("callers_of_owner", owner=_normalised(owner))]


def forget_nodes(tx: Transaction, node_ids: Sequence[str], operator: str) -> int:
    """Turns nodes about one person, even public ones, and every edge at them into tombstones. Returns their number.

    This is a step of a larger transaction. Ids without a node are ignored.
    """
    stored = [node for node_id in node_ids for node in decode_nodes(tx.rows("world_node", id=node_id))]
    nodes = [node for node in stored if not node.erased]
    edges = {
        edge.id: edge
        for node in nodes
        for edge in decode_edges(tx.rows("world_edges_at", node_id=node.id))
        if edge.actor != FORGOTTEN
    }
    return _erase(tx, nodes, list(edges.values()), operator)


def _normalised(owner: str) -> str:
    return owner.lower() if owner.startswith("0x") else owner


def _erase(
    tx: Transaction,
    nodes: Sequence[Node],
    edges: Sequence[Edge],
    operator: str,
    *,
    given_up: Sequence[Node | Edge] = (),
) -> int:
    """Blanks every state of these nodes and edges and appends tombstones.

    For `given_up` entities, which are public or somebody else's now, it states the newest state again instead. Facts
    that a forgotten one had ended or disputed stand as if it had never been stated.
    """
    if not nodes and not edges and not given_up:
        return 0
    seq = tx.changed(DECISION, "approved")
    now = utc_text(tx.now())
    gone_nodes = [*nodes, *(state for state in given_up if isinstance(state, Node))]
    gone_edges = [*edges, *(state for state in given_up if isinstance(state, Edge))]
    for node in gone_nodes:
        _blank_events(tx, "node", node.id)
    for edge in gone_edges:
        _blank_events(tx, "edge", edge.id)
    states: list[Node | Edge] = [
        *(_blank_node(node, now) for node in gone_nodes),
        *(_blank_edge(edge, now) for edge in gone_edges),
        *(recorded_again(state, now) for state in given_up),
    ]
    events = append_states(tx, states, seq)
    freed = placed_again(LedgerView(tx), nodes, now)
    events += append_states(tx, [recorded_again(fact, now) for fact in freed], seq)
    actor = Actor("operator", f"operator:{operator}")
    stages = (StageResult("authority", "pass", f"{actor.name} serves the rights of a person."),)
    record(tx, seq, "approved", Proposal(actor=actor, source=FORGOTTEN), stages, events)
    return len(gone_nodes) + len(gone_edges)


def _blank_events(tx: Transaction, kind: str, entity_id: str) -> None:
    for event in decode_events(tx.rows("world_events_of_entity", kind=kind, entity_id=entity_id)):
        state = _blank(event)
        tx.run("world_forget_payload_of_event", seq=event.seq)
        before = event.node or event.edge
        if before is not None and before.origin is not None and before.origin.decision is not None:
            tx.run("world_forget_origin_decision", owner=before.owner, id=before.origin.decision)
        tx.run("world_blank_event", seq=event.seq, body=_encode(state).decode(), actor=FORGOTTEN, source=FORGOTTEN)


def _blank(event: Event) -> Node | Edge:
    if event.node is not None:
        return _blank_node(event.node, event.node.recorded_at)
    assert event.edge is not None
    return _blank_edge(event.edge, event.edge.recorded_at)


def _blank_node(node: Node, recorded_at: str) -> Node:
    return msgspec.structs.replace(
        node,
        title="",
        properties={},
        owner=FORGOTTEN,
        visibility="private",
        source=FORGOTTEN,
        actor=FORGOTTEN,
        recorded_at=recorded_at,
        erased=True,
        source_class=UNSTATED,
        stated_at=None,
        stated_to=None,
        ended_by=None,
        confirmed_as=None,
        confirmed_at=None,
        disputed=False,
        origin=None,
    )


def _blank_edge(edge: Edge, recorded_at: str) -> Edge:
    return msgspec.structs.replace(
        edge,
        properties={},
        owner=FORGOTTEN,
        visibility="private",
        stated_in=FORGOTTEN,
        actor=FORGOTTEN,
        recorded_at=recorded_at,
        valid_to=max(recorded_at, edge.valid_from),
        origin=None,
    )
