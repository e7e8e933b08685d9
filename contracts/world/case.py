"""Defines the case that the stages judge: a proposal, the graph, and every state that it would write. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from contracts.world.drafts import is_same_statement
from contracts.world.ontology import Ontology
from contracts.world.proposal import Actor, EdgeDraft, NodeDraft, Proposal
from contracts.world.records import Edge, Node
from contracts.world.view import GraphView

MOST_NAMED = 5
"""Maximum number of nodes or edges that a sentence names."""


@dataclass(frozen=True)
class NodeChange:
    """The effect of a draft on a node: its state before (None if it is new) and after. Writing sets `revision`."""

    draft: NodeDraft
    before: Node | None
    after: Node

    @property
    def is_new_state(self) -> bool:
        """Decides whether the statement changes."""
        return self.before is None or not is_same_statement(self.before, self.after)


@dataclass(frozen=True)
class EdgeChange:
    """The effect of a draft on an edge: its state before (None if it is new) and after."""

    draft: EdgeDraft
    before: Edge | None
    after: Edge

    @property
    def is_new_state(self) -> bool:
        """Decides whether the statement changes."""
        return self.before is None or not is_same_statement(self.before, self.after)


@dataclass(frozen=True)
class Case:
    """The input of the stages: the proposal, the graph, and every state that it would write."""

    proposal: Proposal
    view: GraphView
    ontology: Ontology
    now: str
    nodes: tuple[NodeChange, ...]
    edges: tuple[EdgeChange, ...]
    changed_nodes: tuple[tuple[Node, Node], ...]
    """Known nodes that the proposal supersedes, corrects, retracts, confirms or disputes: before and after."""
    changed_edges: tuple[tuple[Edge, Edge], ...]
    """Edges that a new one of a single-valued type, or their own public form, ends or disputes: before and after."""
    clashes: tuple[str, ...]
    """Facts that the proposal states twice for one instant, and stated successions that the rule doesn't produce."""
    outcomes: tuple[str, ...] = ()
    """Sentences for people: how the rule of standing decided about the facts of the proposal."""
    gaps: tuple[str, ...] = ()
    """Sentences for people: when no value holds because a fact with an end has superseded one without."""
    kept: tuple[str, ...] = ()
    """Sentences for people: the edges of corrected nodes that continue at their replacements."""
    left: tuple[str, ...] = ()
    """Sentences for people: the edges of corrected nodes that their replacements can't have."""
    overclaimed: tuple[str, ...] = ()
    """Claims of imported states above the class that their importer may claim."""
    unchanged: int = 0
    """The number of further imported nodes and edges whose statements the graph already has (see `plain_import`)."""
    ontology_ever: Ontology | None = None
    """The ontology including the owner's former words, which imported states that have ended may use."""
    proposed: Mapping[str, Node] = field(default_factory=dict)

    def ontology_of(self, state: Node | Edge, *ends: Node) -> Ontology:
        """Returns the ontology that a state, or an edge with these ends, must fit."""
        is_over = any(_is_over(stated, self.now) for stated in (state, *ends))
        ontology = self.ontology_ever if self.ontology_ever is not None and is_over else self.ontology
        return ontology.part_of(state.owner)

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
        return sees(self.actor, state)

    def end(self, node_id: str) -> Node | None:
        """Returns a node that an edge may use as its end, or None.

        Such a node is part of the proposal, or is known, visible to the actor and not erased.
        """
        proposed = self.proposed.get(node_id)
        if proposed is not None:
            return proposed
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
        states += [*(state for state, _ in self.changed_nodes), *(state for state, _ in self.changed_edges), *ends]
        states += [self.view.node(act.target) for act in self.proposal.acts]
        return tuple(state for state in states if state is not None and self.sees(state))


def _is_over(state: Node | Edge, now: str) -> bool:
    ended = state.valid_to is not None and state.valid_to <= now
    return ended or (isinstance(state, Node) and state.retracted)


def sees(actor: Actor, state: Node | Edge) -> bool:
    """Decides whether an actor may know a state."""
    if state.visibility == "public" or actor.kind == "operator":
        return True
    return state.owner is not None and state.owner in (actor.owner, actor.takes_over)
