"""From a proposal to the states it would write, with what they replace and which facts they end. No judgement here."""

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
    """What a draft makes of a node: its state before (None: new) and after. `revision` is set when it is written."""

    draft: NodeDraft
    before: Node | None
    after: Node

    @property
    def is_new_state(self) -> bool:
        """Whether anything would change: who said it and when is no change of what is said."""
        return self.before is None or _said(self.before) != _said(self.after)


@dataclass(frozen=True)
class EdgeChange:
    """What a draft makes of an edge: its state before (None: new) and after."""

    draft: EdgeDraft
    before: Edge | None
    after: Edge

    @property
    def is_new_state(self) -> bool:
        """Whether anything would change."""
        return self.before is None or _said(self.before) != _said(self.after)


@dataclass(frozen=True)
class Case:
    """What the stages judge: the proposal, the graph, and every state that would be written."""

    proposal: Proposal
    view: GraphView
    ontology: Ontology
    now: str
    nodes: tuple[NodeChange, ...]
    edges: tuple[EdgeChange, ...]
    ended_nodes: tuple[tuple[Node, str], ...]
    """Facts that the proposal supersedes, and when they end."""
    ended_edges: tuple[tuple[Edge, str], ...]
    """Edges that make room for one of a single-valued type or for their own public form, and when they end."""
    clashes: tuple[str, ...]
    """Facts that can't be placed in time beside those that are known."""
    _proposed: dict[str, Node] = field(default_factory=dict)

    @property
    def actor(self) -> Actor:
        """Who proposes."""
        return self.proposal.actor

    @property
    def changes(self) -> tuple[NodeChange | EdgeChange, ...]:
        """Every change of a node or an edge that drafts make."""
        return (*self.nodes, *self.edges)

    def sees(self, state: Node | Edge) -> bool:
        """Whether the actor may know of a state. An operator sees everything: he reviews what others ask for."""
        if state.visibility == "public" or self.actor.kind == "operator":
            return True
        return state.owner is not None and state.owner in (self.actor.owner, self.actor.takes_over)

    def end(self, node_id: str) -> Node | None:
        """A node that an edge may be tied to: proposed here, or known, visible to the actor and not erased."""
        if node_id in self._proposed:
            return self._proposed[node_id]
        held = self.view.node(node_id)
        return held if held is not None and self.sees(held) and not held.erased else None

    @cached_property
    def touched(self) -> tuple[Node | Edge, ...]:
        """Every known state that the proposal changes, ends or ties an edge to."""
        ends = (self.view.node(each) for change in self.edges for each in (change.draft.source, change.draft.target))
        states: list[Node | Edge | None] = [
            *(each.before for each in self.nodes),
            *(each.before for each in self.edges),
        ]
        states += [*(state for state, _ in self.ended_nodes), *(state for state, _ in self.ended_edges), *ends]
        return tuple(state for state in states if state is not None and self.sees(state))


def plan(proposal: Proposal, view: GraphView, ontology: Ontology, now: datetime) -> Case:
    """Work out what a proposal (as `checked` gives it) would write at `now`."""
    recorded_at = utc_text(now)
    nodes = tuple(_node_change(draft, proposal, view, ontology, recorded_at) for draft in proposal.nodes)
    proposed = {change.after.id: change.after for change in nodes}
    facts = _Facts(view, ontology, proposed)
    superseding = [edge for draft in proposal.edges if draft.type == SUPERSEDES for edge in facts.stated(draft)]
    placed = [edge for change in nodes if change.is_new_state for edge in facts.placed(change.after)]
    stated = {(draft.source, draft.type, draft.target) for draft in superseding}
    implied = [draft for draft in placed if (draft.source, draft.type, draft.target) not in stated]
    edges = tuple(_edge_change(draft, proposal, view, recorded_at) for draft in (*proposal.edges, *implied))
    room = _Room(view, ontology)
    for change in edges:
        room.make_for(change)
    return Case(
        proposal=proposal,
        view=view,
        ontology=ontology,
        now=recorded_at,
        nodes=nodes,
        edges=edges,
        ended_nodes=tuple(facts.ended.values()),
        ended_edges=tuple((_published(edges, proposal, view) | room.ended).values()),
        clashes=(*facts.clashes, *room.clashes),
        _proposed=proposed,
    )


def _said(state: Node | Edge) -> tuple[object, ...]:
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


def _published(edges: tuple[EdgeChange, ...], proposal: Proposal, view: GraphView) -> dict[str, tuple[Edge, str]]:
    """Private edges that an operator makes public: the public edge takes their place, or the owner would see both."""
    ended = {}
    for public in (change.after for change in edges if proposal.actor.on_behalf_of and change.after.owner is None):
        held = view.edge(edge_id(proposal.actor.on_behalf_of, public.source, public.type, public.target))
        if held is not None and (held.valid_to is None or held.valid_to > public.valid_from):
            ended[held.id] = (held, max(public.valid_from, held.valid_from))
    return ended


@dataclass
class _Facts:
    """Placing facts in time: of one subject and single-valued predicate, one holds at any instant."""

    view: GraphView
    ontology: Ontology
    proposed: dict[str, Node]
    ended: dict[str, tuple[Node, str]] = field(default_factory=dict)
    clashes: list[str] = field(default_factory=list)

    def placed(self, fact: Node) -> Iterator[EdgeDraft]:
        """End the fact that holds where `fact` begins; the edge that says so. What can't be placed is a clash."""
        key = fact_key(self.ontology, fact.owner, fact.properties)
        if key is None:
            return
        others = {each.id: each for each in self.view.facts(key) if not each.erased}
        others |= {
            each.id: each
            for each in self.proposed.values()
            if fact_key(self.ontology, each.owner, each.properties) == key
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
                    yield _superseding(fact, other)
            elif other.valid_from == fact.valid_from:
                self.clashes.append(f"{other.id} says the same of the same instant; correct it by its id")
            elif fact.valid_to is None or fact.valid_to > other.valid_from:
                self.clashes.append(f"{other.id} holds from {other.valid_from}; the fact has to end by then")

    def stated(self, draft: EdgeDraft) -> Iterator[EdgeDraft]:
        """Note a SUPERSEDES edge that the proposal itself states, and end its target where it still holds."""
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


def _superseding(fact: Node, other: Node) -> EdgeDraft:
    return EdgeDraft(
        source=fact.id,
        target=other.id,
        type=SUPERSEDES,
        visibility=fact.visibility,
        valid_from=fact.valid_from,
    )


@dataclass
class _Room:
    """Making room for edges of single-valued types: of one source, one holds at any instant."""

    view: GraphView
    ontology: Ontology
    ended: dict[str, tuple[Edge, str]] = field(default_factory=dict)
    clashes: list[str] = field(default_factory=list)
    _taken: set[tuple[str, str]] = field(default_factory=set)

    def make_for(self, change: EdgeChange) -> None:
        """End the edge in whose place `change` comes. What can't be placed is a clash."""
        edge = change.after
        known = self.ontology.edge_types.get(edge.type)
        if known is None or not known.single_valued or not change.is_new_state:
            return
        if (edge.source, edge.type) in self._taken:
            self.clashes.append(f"{edge.source} has two {edge.type} in the proposal; one holds at a time")
        self._taken.add((edge.source, edge.type))
        for other in self.view.edges_from(edge.source, edge.type):
            over = other.valid_to is not None and other.valid_to <= edge.valid_from
            if other.id == edge.id or other.owner != edge.owner or over:
                continue
            if other.valid_from >= edge.valid_from:
                self.clashes.append(f"{edge.source} {edge.type} {other.target} holds from {other.valid_from} already")
            else:
                self.ended[other.id] = (other, edge.valid_from)
