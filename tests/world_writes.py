"""Proposals for tests, a graph in memory for the stages to read, and an alignment without rules."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from contracts.times import utc_text
from contracts.world.case import Case
from contracts.world.change_set import plan
from contracts.world.identity import dedupe_key, edge_id, fact_key
from contracts.world.ontology import load_ontology
from contracts.world.proposal import Actor, EdgeDraft, NodeDraft, Proposal, checked
from contracts.world.records import Edge, Node, is_live
from contracts.world.stages import Judgement

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
ADA = Actor("caller", "local:ada")
BOB = Actor("caller", "local:bob")


def at(**ahead: float) -> str:
    """Returns the time that is `ahead` of now, given as for `timedelta`."""
    return utc_text(NOW + timedelta(**ahead))


def no_rules(proposal: Proposal) -> Judgement:
    return Judgement("pass", "No rules here.")


def goal(node_id: str, **fields: Any) -> NodeDraft:
    """Returns a private node of type Goal."""
    return NodeDraft(**{"id": node_id, "type": "Goal", "title": f"Title of {node_id}", **fields})


def fact(node_id: str, value: Any, **fields: Any) -> NodeDraft:
    """Returns an observation of the one door's state."""
    said = {"subject": "door", "predicate": "state", "value": value}
    return NodeDraft(
        **{"id": node_id, "type": "Observation", "title": f"The door {node_id}", "properties": said, **fields}
    )


def proposal(*drafts: NodeDraft | EdgeDraft, actor: Actor = ADA, **fields: Any) -> Proposal:
    """Returns a proposal of nodes and edges."""
    return Proposal(
        actor=actor,
        source=fields.pop("source", "a test"),
        nodes=tuple(each for each in drafts if isinstance(each, NodeDraft)),
        edges=tuple(each for each in drafts if isinstance(each, EdgeDraft)),
        **fields,
    )


def tie(source: str, edge_type: str, target: str, **fields: Any) -> EdgeDraft:
    return EdgeDraft(source=source, type=edge_type, target=target, **fields)


def held_node(node_id: str, *, type: str = "Goal", owner: str | None = None, **fields: Any) -> Node:
    """Returns an existing node: an hour old, and public unless it has an owner."""
    return Node(
        **{
            "id": node_id,
            "title": f"Title of {node_id}",
            "type": type,
            "domain": load_ontology().node_types[type].domain,
            "properties": {},
            "visibility": "private" if owner else "public",
            "owner": owner,
            "immutable": False,
            "valid_from": at(hours=-1),
            "valid_to": None,
            "recorded_at": at(hours=-1),
            "source": "a test",
            "actor": owner or "constitution",
            "revision": 7,
            **fields,
        }
    )


def held_edge(source: str, edge_type: str, target: str, *, owner: str | None = None, **fields: Any) -> Edge:
    """Returns an existing edge, an hour old."""
    return Edge(
        **{
            "id": edge_id(owner, source, edge_type, target),
            "source": source,
            "target": target,
            "type": edge_type,
            "properties": {},
            "visibility": "private" if owner else "public",
            "owner": owner,
            "valid_from": at(hours=-1),
            "valid_to": None,
            "recorded_at": at(hours=-1),
            "stated_in": "a test",
            "actor": owner or "constitution",
            "revision": 8,
            **fields,
        }
    )


class MemoryView:
    """A graph view of these states."""

    def __init__(self, states: Iterable[Node | Edge] = ()) -> None:
        held = list(states)
        self.nodes = {each.id: each for each in held if isinstance(each, Node)}
        self.edges = {each.id: each for each in held if isinstance(each, Edge)}

    def node(self, node_id: str) -> Node | None:
        return self.nodes.get(node_id)

    def edge(self, edge_id: str) -> Edge | None:
        return self.edges.get(edge_id)

    def edge_between(self, owner: str | None, source: str, edge_type: str, target: str) -> Edge | None:
        ends = (owner, source, edge_type, target)
        found = (each for each in self.edges.values() if (each.owner, each.source, each.type, each.target) == ends)
        return next(found, self.edges.get(edge_id(*ends)))

    def facts(self, key: str) -> list[Node]:
        found = self.nodes.values()
        return [each for each in found if fact_key(load_ontology(), each.owner, each.properties) == key]

    def edges_from(self, source: str, edge_type: str) -> list[Edge]:
        return [each for each in self.edges.values() if (each.source, each.type) == (source, edge_type)]

    def edges_to(self, target: str) -> list[Edge]:
        return [each for each in self.edges.values() if each.target == target and is_live(each)]

    def edges_at(self, node_id: str) -> list[Edge]:
        return [each for each in self.edges.values() if node_id in (each.source, each.target)]

    def alike(self, key: str) -> list[str]:
        found = self.nodes.values()
        return [each.id for each in found if is_live(each) and dedupe_key(each.owner, each.type, each.title) == key]

    def head(self) -> int:
        return max((each.revision for each in self._states()), default=0)

    def newest_of(self, owner: str) -> int:
        return max((each.revision for each in self._states() if each.owner == owner), default=0)

    def _states(self) -> list[Node | Edge]:
        return [*self.nodes.values(), *self.edges.values()]


def case(proposed: Proposal, *held: Node | Edge) -> Case:
    """Returns what the stages judge of a proposal over a graph of these states, at noon."""
    return plan(checked(proposed), MemoryView(held), load_ontology(), NOW)
