"""Computes the states that a proposal would write, the states they replace, and the facts they end. It judges nothing.

Example: the fact (token, holders) = 100 holds since 09:00. A proposal states (token, holders) = 120 from 10:00. The
change set ends the old fact at 10:00 and adds an edge new SUPERSEDES old. A proposal with the same predicate from 08:00
and without an end clashes instead, because both facts would hold after 09:00.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

import msgspec

from contracts.times import utc_text
from contracts.world.identity import edge_id, fact_key
from contracts.world.ontology import SUPERSEDES, Ontology
from contracts.world.proposal import Actor, EdgeDraft, NodeDraft, Proposal
from contracts.world.records import Edge, Node
from contracts.world.view import GraphView


@dataclass(frozen=True)
class NodeChange:
    """The effect of a draft on a node: its state before (None if it is new) and after. Writing sets `revision`."""

    draft: NodeDraft
    before: Node | None
    after: Node

    @property
    def is_new_state(self) -> bool:
        """Decides whether the statement changes. A different actor or time of the same statement is no change."""
        return self.before is None or _statement(self.before) != _statement(self.after)


@dataclass(frozen=True)
class EdgeChange:
    """The effect of a draft on an edge: its state before (None if it is new) and after."""

    draft: EdgeDraft
    before: Edge | None
    after: Edge

    @property
    def is_new_state(self) -> bool:
        """Decides whether the statement changes."""
        return self.before is None or _statement(self.before) != _statement(self.after)


@dataclass(frozen=True)
class Case:
    """The input of the stages: the proposal, the graph, and every state that would be written."""

    proposal: Proposal
    view: GraphView
    ontology: Ontology
    now: str
    nodes: tuple[NodeChange, ...]
    edges: tuple[EdgeChange, ...]
    ended_nodes: tuple[tuple[Node, str], ...]
    """Facts that the proposal supersedes, with the time of their end."""
    ended_edges: tuple[tuple[Edge, str], ...]
    """Edges that a new one of a single-valued type, or their own public form, replaces, with the time of their end."""
    clashes: tuple[str, ...]
    """Facts whose time conflicts with known facts."""
    _proposed: dict[str, Node] = field(default_factory=dict)

    @property
    def actor(self) -> Actor:
        """Returns the actor of the proposal."""
        return self.proposal.actor

    @property
    def changes(self) -> tuple[NodeChange | EdgeChange, ...]:
        """Returns every change of a node or an edge."""
        return (*self.nodes, *self.edges)

    def sees(self, state: Node | Edge) -> bool:
        """Decides whether the actor may know a state. An operator sees everything, to review the requests of others."""
        if state.visibility == "public" or self.actor.kind == "operator":
            return True
        return state.owner is not None and state.owner in (self.actor.owner, self.actor.takes_over)

    def end(self, node_id: str) -> Node | None:
        """Returns a node that an edge may use as its end, or None.

        It is part of the proposal, or known, visible to the actor and not erased.
        """
        if node_id in self._proposed:
            return self._proposed[node_id]
        known = self.view.node(node_id)
        return known if known is not None and self.sees(known) and not known.erased else None

    @cached_property
    def touched(self) -> tuple[Node | Edge, ...]:
        """Returns every known state that the proposal changes, ends or connects by an edge."""
        ends = (
            self.view.node(node_id) for change in self.edges for node_id in (change.draft.source, change.draft.target)
        )
        states: list[Node | Edge | None] = [
            *(change.before for change in self.nodes),
            *(change.before for change in self.edges),
        ]
        states += [*(state for state, _ in self.ended_nodes), *(state for state, _ in self.ended_edges), *ends]
        return tuple(state for state in states if state is not None and self.sees(state))


def plan(proposal: Proposal, view: GraphView, ontology: Ontology, now: datetime) -> Case:
    """Computes the changes that a proposal (from `checked`) would write at `now`."""
    recorded_at = utc_text(now)
    nodes = tuple(_node_change(draft, proposal, view, ontology, recorded_at) for draft in proposal.nodes)
    proposed = {change.after.id: change.after for change in nodes}
    facts = _Facts(view, ontology, proposed)
    superseding = [edge for draft in proposal.edges if draft.type == SUPERSEDES for edge in facts.stated(draft)]
    placed = [edge for change in nodes if change.is_new_state for edge in facts.placed(change.after)]
    stated = {(draft.source, draft.type, draft.target) for draft in superseding}
    implied = [draft for draft in placed if (draft.source, draft.type, draft.target) not in stated]
    edges = tuple(_edge_change(draft, proposal, view, recorded_at) for draft in (*proposal.edges, *implied))
    single_valued = _SingleValuedEdges(view, ontology)
    for change in edges:
        single_valued.make_for(change)
    return Case(
        proposal=proposal,
        view=view,
        ontology=ontology,
        now=recorded_at,
        nodes=nodes,
        edges=edges,
        ended_nodes=tuple(facts.ended.values()),
        ended_edges=tuple((_replaced_private_edges(edges, proposal, view) | single_valued.ended).values()),
        clashes=(*facts.clashes, *single_valued.clashes),
        _proposed=proposed,
    )


def _statement(state: Node | Edge) -> tuple[object, ...]:
    common = (state.type, state.properties, state.visibility, state.owner, state.valid_from, state.valid_to)
    if isinstance(state, Node):
        return (*common, state.title, state.immutable, state.erased)
    return (*common, state.source, state.target)


def _node_change(draft: NodeDraft, proposal: Proposal, view: GraphView, ontology: Ontology, now: str) -> NodeChange:
    before = view.node(draft.id)
    known = ontology.node_types.get(draft.type)
    after = Node(
        id=draft.id,
        title=draft.title,
        type=draft.type,
        domain=known.domain if known else draft.domain or "",
        properties=draft.properties,
        visibility=draft.visibility,
        owner=proposal.actor.owner if draft.visibility == "private" else None,
        immutable=draft.immutable,
        valid_from=draft.valid_from or (before.valid_from if before else now),
        valid_to=draft.valid_to,
        recorded_at=now,
        source=proposal.source,
        actor=proposal.actor.name,
        revision=0,
    )
    return NodeChange(draft, before, after)


def _edge_change(draft: EdgeDraft, proposal: Proposal, view: GraphView, now: str) -> EdgeChange:
    owner = proposal.actor.owner if draft.visibility == "private" else None
    identity = edge_id((owner and proposal.actor.takes_over) or owner, draft.source, draft.type, draft.target)
    before = view.edge(identity)
    after = Edge(
        id=identity,
        source=draft.source,
        target=draft.target,
        type=draft.type,
        properties=draft.properties,
        visibility=draft.visibility,
        owner=owner,
        valid_from=draft.valid_from or (before.valid_from if before else now),
        valid_to=draft.valid_to,
        recorded_at=now,
        stated_in=proposal.source,
        actor=proposal.actor.name,
        revision=0,
    )
    return EdgeChange(draft, before, after)


def _replaced_private_edges(
    edges: tuple[EdgeChange, ...], proposal: Proposal, view: GraphView
) -> dict[str, tuple[Edge, str]]:
    """Returns the private edges that an operator makes public, with the time of their end.

    The public edge replaces them. Otherwise their owner would see both.
    """
    ended = {}
    for public in (change.after for change in edges if proposal.actor.on_behalf_of and change.after.owner is None):
        private = view.edge(edge_id(proposal.actor.on_behalf_of, public.source, public.type, public.target))
        if private is not None and (private.valid_to is None or private.valid_to > public.valid_from):
            ended[private.id] = (private, max(public.valid_from, private.valid_from))
    return ended


@dataclass
class _Facts:
    """Orders facts in time: for a subject and a single-valued predicate, one fact holds at any instant."""

    view: GraphView
    ontology: Ontology
    proposed: dict[str, Node]
    ended: dict[str, tuple[Node, str]] = field(default_factory=dict)
    clashes: list[str] = field(default_factory=list)

    def placed(self, fact: Node) -> Iterator[EdgeDraft]:
        """Ends the fact that holds when `fact` begins and yields the edge that states it. Records clashes."""
        key = fact_key(self.ontology, fact.owner, fact.properties)
        if key is None:
            return
        others = {node.id: node for node in self.view.facts(key) if not node.erased}
        others |= {
            node.id: node
            for node in self.proposed.values()
            if fact_key(self.ontology, node.owner, node.properties) == key
        }
        others.pop(fact.id, None)
        for other in others.values():
            if other.id in self.ended:
                other = msgspec.structs.replace(other, valid_to=self.ended[other.id][1])
            if other.valid_from < fact.valid_from:
                if other.valid_to is not None and other.valid_to <= fact.valid_from:
                    continue
                if other.id in self.proposed:
                    self.clashes.append(f"{fact.id} and {other.id} of the proposal would hold at once")
                else:
                    self.ended[other.id] = (other, fact.valid_from)
                    yield _superseding_edge(fact, other)
            elif other.valid_from == fact.valid_from:
                self.clashes.append(f"{other.id} says the same of the same instant; correct it by its id")
            elif fact.valid_to is None or fact.valid_to > other.valid_from:
                self.clashes.append(f"{other.id} holds from {other.valid_from}; the fact has to end by then")

    def stated(self, draft: EdgeDraft) -> Iterator[EdgeDraft]:
        """Records a SUPERSEDES edge of the proposal, and ends its target if that still holds."""
        yield draft
        source = self.proposed.get(draft.source) or self.view.node(draft.source)
        target = self.view.node(draft.target)
        if source is None or target is None or draft.target in self.proposed:
            return
        if target.valid_to is None or target.valid_to > source.valid_from:
            if target.valid_from >= source.valid_from:
                self.clashes.append(f"{target.id} begins no earlier than what would supersede it")
            else:
                self.ended[target.id] = (target, source.valid_from)


def _superseding_edge(fact: Node, other: Node) -> EdgeDraft:
    return EdgeDraft(
        source=fact.id,
        target=other.id,
        type=SUPERSEDES,
        visibility=fact.visibility,
        valid_from=fact.valid_from,
    )


@dataclass
class _SingleValuedEdges:
    """Orders edges of single-valued types in time: for one source, one edge holds at any instant."""

    view: GraphView
    ontology: Ontology
    ended: dict[str, tuple[Edge, str]] = field(default_factory=dict)
    clashes: list[str] = field(default_factory=list)
    _sources: set[tuple[str, str]] = field(default_factory=set)

    def make_for(self, change: EdgeChange) -> None:
        """Ends the edge that `change` replaces. A conflict in time is a clash."""
        edge = change.after
        known = self.ontology.edge_types.get(edge.type)
        if known is None or not known.single_valued or not change.is_new_state:
            return
        if (edge.source, edge.type) in self._sources:
            self.clashes.append(f"{edge.source} has two {edge.type} in the proposal; one holds at a time")
        self._sources.add((edge.source, edge.type))
        for other in self.view.edges_from(edge.source, edge.type):
            over = other.valid_to is not None and other.valid_to <= edge.valid_from
            if other.id == edge.id or other.owner != edge.owner or over:
                continue
            if other.valid_from >= edge.valid_from:
                self.clashes.append(f"{edge.source} {edge.type} {other.target} holds from {other.valid_from} already")
            else:
                self.ended[other.id] = (other, edge.valid_from)
