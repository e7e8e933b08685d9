"""Hands private nodes and edges over: states that one address wrote with its keys become another's, as new states.

`warehouse/access/owners.py` decides who may receive them. History does not change: earlier states stay with the former
owner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from contracts.times import utc_text
from contracts.world.identity import fact_key
from contracts.world.ontology import Ontology
from contracts.world.proposal import Actor, Proposal, StageResult
from contracts.world.records import Edge, Node, overlap, recorded_again
from warehouse.ledger.ledger import Transaction
from warehouse.world.audit import DECISION, record
from warehouse.world.events import append_states
from warehouse.world.ontologies import ontology_of
from warehouse.world.view import LedgerView

SOURCE = "change of owner"
STATES_AT_ONCE = 5_000

State = TypeVar("State", Node, Edge)


@dataclass(frozen=True, slots=True)
class Moved:
    """The numbers of nodes and edges with a new owner, and of those left with the old one."""

    nodes: int = 0
    edges: int = 0
    left: int = 0


def hand_over(
    tx: Transaction,
    nodes: Sequence[Node],
    edges: Sequence[Edge],
    new_owner: str,
    *,
    takes_over: str,
    reason: str,
    key_id: str | None = None,
) -> Moved:
    """Transfers these private nodes and edges of `takes_over` to `new_owner`.

    Facts and edges that contradict or repeat the new owner's, nodes and edges of types that the new owner's ontology
    lacks, and edges with an end that the new owner can't see, stay behind. `key_id` is the key that wrote them.
    """
    now = utc_text(tx.now())
    view = LedgerView(tx)
    actor = Actor("claimant", new_owner, takes_over=takes_over)
    ontology = ontology_of(tx, new_owner)
    moving_nodes = [
        node
        for node in nodes
        if node.type in ontology.node_types and not _is_contradicted(view, ontology, node, new_owner)
    ]
    _append(tx, [_owned(node, new_owner, now) for node in moving_nodes], actor, reason, key_id)
    view = LedgerView(tx)
    moving_edges = [
        edge
        for edge in edges
        if edge.type in ontology.edge_types
        and _sees_ends(view, edge, new_owner)
        and not _has_like(view, ontology, edge, new_owner)
    ]
    _append(tx, [_owned(edge, new_owner, now) for edge in moving_edges], actor, reason, key_id)
    left = len(nodes) + len(edges) - len(moving_nodes) - len(moving_edges)
    return Moved(len(moving_nodes), len(moving_edges), left)


def _owned(state: State, owner: str, now: str) -> State:
    return msgspec.structs.replace(recorded_again(state, now), owner=owner, actor=owner)


def _append(tx: Transaction, states: Sequence[Node | Edge], actor: Actor, reason: str, key_id: str | None) -> None:
    for first in range(0, len(states), STATES_AT_ONCE):
        seq = tx.changed(DECISION, "approved")
        events = append_states(tx, states[first : first + STATES_AT_ONCE], seq)
        stages = (StageResult("authority", "pass", reason),)
        record(tx, seq, "approved", Proposal(actor=actor, source=SOURCE), stages, events, key_id=key_id)


def _is_contradicted(view: LedgerView, ontology: Ontology, node: Node, owner: str) -> bool:
    """Returns True if the owner has a fact with the same subject and predicate for an overlapping time."""
    key = fact_key(ontology, owner, node.properties)
    return key is not None and any(overlap(node, fact) for fact in view.facts(key) if not fact.erased)


def _has_like(view: LedgerView, ontology: Ontology, edge: Edge, owner: str) -> bool:
    """Returns True if the owner states the same edge, or another edge of a type that allows one at a time."""
    same = view.edge_between(owner, edge.source, edge.type, edge.target)
    if same is not None and same.owner == owner and overlap(edge, same):
        return True
    known = ontology.edge_types.get(edge.type)
    if known is None or not known.single_valued:
        return False
    others = view.edges_from(edge.source, edge.type)
    return any(other.owner == owner and overlap(edge, other) for other in others)


def _sees_ends(view: LedgerView, edge: Edge, owner: str) -> bool:
    ends = (view.node(edge.source), view.node(edge.target))
    return all(end is not None and end.owner in (None, owner) for end in ends)
