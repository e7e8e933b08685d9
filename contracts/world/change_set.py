"""Computes the states that a proposal would write, and the known states that change with them. It judges nothing.

Example: the fact (token, holders) = 100 holds since 09:00. A proposal of the same standing states 120 from 10:00. The
change set ends the old fact at 10:00 and adds an edge new SUPERSEDES old. A proposal of 90 from 08:00 goes into
history: it holds until 09:00. One from 10:00 that stands lower holds beside the old fact, and both are disputed.
`facts.py` decides this.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

import msgspec

from contracts.standing import SourceClass, higher, rank
from contracts.times import instant_of, is_instant, utc_text
from contracts.world.corrections import Correction, EdgeKey, KeptEdge
from contracts.world.facts import (
    Claim,
    claim_of,
    place,
    standing_at,
    stated_end,
    supersedes,
)
from contracts.world.identity import edge_id, fact_key
from contracts.world.ontology import ACT_EDGES, SUPERSEDES, Ontology
from contracts.world.proposal import Act, Actor, EdgeDraft, NodeDraft, Proposal
from contracts.world.records import Edge, Node, State, recorded_again
from contracts.world.text import folded
from contracts.world.view import GraphView

MOST_NAMED = 5
CLOCK_SKEW = timedelta(minutes=5)
"""Time by which a sender's clock may be ahead of ours."""
INSTANT = timedelta(microseconds=1)
"""The shortest time for which a state can hold."""


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
    """The input of the stages: the proposal, the graph, and every state that would be written."""

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
    """Facts that the proposal states twice for one instant, and stated successions that the rule does not give."""
    outcomes: tuple[str, ...] = ()
    """Sentences for people: how the rule of standing decided about the facts of the proposal."""
    gaps: tuple[str, ...] = ()
    """Sentences for people: when nothing holds any more because a fact with an end has superseded one without."""
    kept: tuple[str, ...] = ()
    """Sentences for people: the edges of corrected nodes that go on at what stands in their place."""
    left: tuple[str, ...] = ()
    """Sentences for people: the edges of corrected nodes that what stands in their place can't have."""
    overclaimed: tuple[str, ...] = ()
    """Claims of imported states above the class that their importer may claim."""
    unchanged: int = 0
    """Imported nodes and edges beside these whose statements the graph has, as `plain_import` finds them."""
    ontology_ever: Ontology | None = None
    """The ontology with words that the owner had once, of which imported states that are over may be."""
    _proposed: Mapping[str, Node] = field(default_factory=dict)

    def ontology_of(self, state: Node | Edge, *ends: Node) -> Ontology:
        """Returns the ontology that a state has to fit, or that an edge with these ends has to fit."""
        is_over = any(_is_over(each, self.now) for each in (state, *ends))
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

        It is part of the proposal, or known, visible to the actor and not erased.
        """
        proposed = self._proposed.get(node_id)
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


def plan(proposal: Proposal, view: GraphView, ontology: Ontology, now: datetime) -> Case:
    """Computes the changes that a proposal (from `checked`) would write at `now`."""
    recorded_at = utc_text(now)
    acts = _Acts(proposal, view, recorded_at)
    drafted = [_node_change(draft, proposal, view, ontology, acts, recorded_at) for draft in proposal.nodes]
    changed = {change.after.id: change.after for change in drafted if change.is_new_state}
    facts = _Facts(view, ontology, recorded_at, changed, acts.targets)
    for change in drafted:
        facts.place(change)
    for target in acts.targets.values():
        facts.place_again(target)
    nodes = tuple(
        NodeChange(change.draft, change.before, facts.proposed.get(change.after.id, change.after)) for change in drafted
    )
    superseding = [edge for edge in proposal.edges if edge.type == SUPERSEDES]
    facts.refuse_unfounded(superseding)
    stated = {(draft.source, draft.type, draft.target) for draft in proposal.edges}
    implied = [
        draft
        for draft in (*facts.successions(), *acts.edges())
        if (draft.source, draft.type, draft.target) not in stated
    ]
    corrected = _CorrectedEdges(
        proposal, view, ontology, acts.targets, {change.after.id: change.after for change in nodes}
    )
    kept = [_kept_change(kept, proposal, view, recorded_at) for kept in corrected.kept]
    single_valued = _SingleValuedEdges(view, ontology, history=bool(kept))
    edges = tuple(
        single_valued.placed(change)
        for change in (
            *(_edge_change(draft, proposal, view, recorded_at) for draft in (*proposal.edges, *implied)),
            *kept,
        )
    )
    return Case(
        proposal=proposal,
        view=view,
        ontology=ontology,
        now=recorded_at,
        nodes=nodes,
        edges=edges,
        changed_nodes=tuple(facts.changed()),
        changed_edges=tuple((_replaced_private_edges(edges, proposal, view) | single_valued.changed).values()),
        clashes=(*facts.clashes, *single_valued.clashes),
        outcomes=(*facts.outcomes, *single_valued.outcomes),
        gaps=tuple(facts.gaps),
        kept=tuple(corrected.kept_in_words),
        left=tuple(corrected.left_in_words),
        _proposed={change.after.id: change.after for change in nodes},
    )


@dataclass(frozen=True)
class ImportedStates:
    """The states of a part of an import, and what it has to know of the rest of the file."""

    nodes: tuple[tuple[Node, ...], ...]
    """The states of each node, oldest first. One that states no start has an empty one."""
    edges: tuple[tuple[Edge, ...], ...]
    others: Mapping[str, Node]
    """The current states of the nodes of the whole file, by id."""
    endings: Collection[tuple[str, str]]
    """Pairs of ids: a node, and one that it ended in some state of the file."""
    confirmed: Collection[str]
    """The nodes that some state of the file shows as confirmed."""
    unchanged: int = 0
    """The number of plain nodes and edges of the part whose statements the graph has. These states leave them out."""


@dataclass(frozen=True)
class ImportCase:
    """The input of the stages for a part of an import, and all states that it would write, in order."""

    case: Case
    written: tuple[Node | Edge, ...]
    known: int
    """The number of written states whose nodes and edges the graph has and the file does not; they come first."""


def plan_import(
    imported: ImportedStates,
    proposal: Proposal,
    view: GraphView,
    ontology: Ontology,
    now: datetime,
    *,
    ontology_ever: Ontology,
) -> ImportCase:
    """Computes the changes that a part of an import would write at `now`.

    `proposal` names the actor and the source. What the file says about the order of its facts is decided again, by the
    rule of standing, together with the facts that the graph has; what comes out otherwise is one more state. States
    before the current one are only written for nodes and edges that the graph does not know.
    """
    recorded_at = utc_text(now)
    imported = _started(imported, view, recorded_at)
    drafted = [_imported_change(states[-1], view, ontology) for states in imported.nodes]
    drafted = [change for change in drafted if change.is_new_state or not change.after.retracted]
    changed = {change.after.id: change.after for change in drafted if change.is_new_state}
    facts = _Facts(view, ontology, recorded_at, changed, {})
    for change in drafted:
        facts.place(change)
    nodes = tuple(
        NodeChange(change.draft, change.before, facts.proposed.get(change.after.id, change.after)) for change in drafted
    )
    single_valued = _SingleValuedEdges(view, ontology, history=True)
    edges = [
        single_valued.placed(EdgeChange(edge_draft_of(states[-1]), view.edge(states[-1].id), states[-1]))
        for states in imported.edges
    ]
    founded = {
        (change.draft.source, change.draft.type, change.draft.target)
        for change in edges
        if _is_founded(change.after, imported)
    }
    stated = tuple(
        change.draft for change in edges if (change.draft.source, change.draft.type, change.draft.target) not in founded
    )
    proposal = msgspec.structs.replace(proposal, nodes=tuple(change.draft for change in nodes), edges=stated)
    facts.refuse_unfounded([draft for draft in stated if draft.type == SUPERSEDES])
    known = {(change.draft.source, change.draft.type, change.draft.target) for change in edges}
    edges += [
        _edge_change(draft, proposal, view, recorded_at)
        for draft in facts.successions()
        if (draft.source, draft.type, draft.target) not in known
        and (draft.source, draft.target) not in imported.endings
    ]
    case = Case(
        proposal=proposal,
        view=view,
        ontology=ontology,
        now=recorded_at,
        nodes=nodes,
        edges=tuple(edges),
        changed_nodes=tuple(facts.changed()),
        changed_edges=tuple(single_valued.changed.values()),
        clashes=(*_disordered(imported, recorded_at), *facts.clashes, *single_valued.clashes),
        outcomes=(*facts.outcomes, *single_valued.outcomes),
        overclaimed=tuple(_overclaimed(imported, proposal.actor)),
        unchanged=imported.unchanged,
        ontology_ever=ontology_ever,
        _proposed=_Either({change.after.id: change.after for change in nodes}, imported.others),
    )
    return ImportCase(case, tuple(_written(case, imported)), len(case.changed_nodes) + len(case.changed_edges))


class _Either(Mapping[str, Node]):
    """The nodes of two mappings; those of the first one count."""

    def __init__(self, first: Mapping[str, Node], second: Mapping[str, Node]) -> None:
        self._first = first
        self._second = second

    def __getitem__(self, node_id: str) -> Node:
        return self._first[node_id] if node_id in self._first else self._second[node_id]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._first, **self._second})

    def __len__(self) -> int:
        return len({**self._first, **self._second})


def _started(imported: ImportedStates, view: GraphView, now: str) -> ImportedStates:
    """Returns the states with a start. Like a draft, one that states none keeps that of the known state, or starts
    now."""
    nodes = tuple(
        tuple(_starting(state, view.node(state.id), now) for state in states) if _lacks_start(states) else states
        for states in imported.nodes
    )
    edges = tuple(
        tuple(_starting(state, view.edge(state.id), now) for state in states) if _lacks_start(states) else states
        for states in imported.edges
    )
    return replace(imported, nodes=nodes, edges=edges)


def _lacks_start(states: tuple[Node | Edge, ...]) -> bool:
    return any(not state.valid_from for state in states)


def _starting(state: State, before: State | None, now: str) -> State:
    if state.valid_from:
        return state
    return msgspec.structs.replace(state, valid_from=now if before is None else before.valid_from)


def _imported_change(newest: Node, view: GraphView, ontology: Ontology) -> NodeChange:
    known = ontology.node_types.get(newest.type)
    after = newest if known is None else msgspec.structs.replace(newest, domain=known.domain)
    draft = msgspec.structs.replace(node_draft_of(newest), domain=newest.domain or None)
    return NodeChange(draft, view.node(newest.id), after)


def _written(case: Case, imported: ImportedStates) -> Iterator[Node | Edge]:
    """Yields the states of an import: known ones that it changes, then those of each node and edge."""
    for _, node in case.changed_nodes:
        yield recorded_again(node, case.now)
    for _, edge in case.changed_edges:
        yield recorded_again(edge, case.now)
    node_history = {states[-1].id: states for states in imported.nodes}
    edge_history = {states[-1].id: states for states in imported.edges}
    for change in case.changes:
        if not change.is_new_state:
            continue
        histories: Mapping[str, tuple[Node | Edge, ...]] = (
            node_history if isinstance(change, NodeChange) else edge_history
        )
        states = histories.get(change.after.id, ())
        if change.before is None:
            yield from states[:-1]
        if states and states[-1].origin is not None:
            yield states[-1]
        if not states or states[-1].origin is None or change.after != states[-1]:
            yield recorded_again(change.after, case.now)


def _is_founded(edge: Edge, imported: ImportedStates) -> bool:
    """Decides whether an edge of a succession or an act follows from the states of the file, as those edges do."""
    if edge.type == "CONFIRMS":
        return edge.target in imported.confirmed
    return edge.type in (SUPERSEDES, *ACT_EDGES) and (edge.source, edge.target) in imported.endings


def _disordered(imported: ImportedStates, now: str) -> Iterator[str]:
    """Yields the nodes and edges whose states were not recorded one after the other."""
    latest = utc_text(instant_of(now) + CLOCK_SKEW)
    for states in _all_states(imported):
        times = [now if state.origin is None else state.origin.recorded_at for state in states]
        if len(states) > 1 and any(state.origin is None for state in states):
            yield f"{states[-1].id} has a state before another without the time at which it was recorded"
        elif times != sorted(times) or times[-1] > latest:
            yield f"{states[-1].id} has a state that was recorded before the one that it follows, or is still to come"
        elif any(isinstance(state, Node) and _contradicts_itself(state) for state in states):
            yield f"{states[-1].id} has a state whose end, retraction or confirmation contradicts itself"
        elif any(state.valid_to is not None and state.valid_to < state.valid_from for state in states[:-1]):
            yield f"{states[-1].id} has a state that would end before it starts"


def _all_states(imported: ImportedStates) -> Iterator[tuple[Node | Edge, ...]]:
    yield from imported.nodes
    yield from imported.edges


def _contradicts_itself(node: Node) -> bool:
    if (node.confirmed_as is None) != (node.confirmed_at is None):
        return True
    if node.retracted:
        return node.ended_by is None or node.valid_to != node.valid_from
    return node.ended_by is not None and (node.valid_to is None or node.valid_to < node.valid_from)


def _overclaimed(imported: ImportedStates, actor: Actor) -> Iterator[str]:
    ceiling = authority_of(actor)
    for state in (state for states in _all_states(imported) for state in states):
        if isinstance(state, Node) and state.immutable and actor.kind == "operator":
            yield f"{state.id}: only the constitution makes nodes immutable"
        claimed = state.source_class
        if isinstance(state, Node) and state.confirmed_as is not None:
            claimed = higher(claimed, state.confirmed_as)
        if rank(claimed) > rank(ceiling):
            yield f"{state.id} claims the class {claimed}; this key claims up to {ceiling}"


def node_draft_of(node: Node) -> NodeDraft:
    """Returns what a state of a node states, as a caller would write it."""
    return NodeDraft(
        id=node.id,
        type=node.type,
        title=node.title,
        properties=node.properties,
        visibility=node.visibility,
        immutable=node.immutable,
        valid_from=node.valid_from or None,
        valid_to=stated_end(node),
    )


def edge_draft_of(edge: Edge) -> EdgeDraft:
    """Returns what a state of an edge states. One that ended as it began states no end of its own."""
    return EdgeDraft(
        source=edge.source,
        target=edge.target,
        type=edge.type,
        properties=edge.properties,
        visibility=edge.visibility,
        valid_from=edge.valid_from or None,
        valid_to=None if edge.valid_to == edge.valid_from else edge.valid_to,
    )


def is_same_statement(before: Node | Edge, after: Node | Edge) -> bool:
    """Decides whether two states of a node or an edge state the same. Another actor, source or time of recording is no
    difference."""
    return _statement(before) == _statement(after)


def _statement(state: Node | Edge) -> tuple[object, ...]:
    common = (state.type, state.properties, state.visibility, state.owner, state.valid_from)
    if isinstance(state, Node):
        return (*common, stated_end(state), state.title, state.immutable, state.erased, state.retracted)
    return (*common, state.valid_to, state.source, state.target)


@dataclass
class _Acts:
    """The acts of a proposal on known nodes: corrections, retractions and confirmations."""

    proposal: Proposal
    view: GraphView
    now: str
    targets: dict[str, Node] = field(default_factory=dict)
    """The new states of the known nodes."""

    def __post_init__(self) -> None:
        for act in self.proposal.acts:
            known = self.view.node(act.target)
            if known is not None and sees(self.proposal.actor, known) and not known.erased and not known.retracted:
                self.targets[act.target] = self._done(act, known)

    def corrected_by(self, node_id: str) -> Node | None:
        """Returns the known node that a node of the proposal corrects."""
        corrected = [act.target for act in self.proposal.acts if (act.kind, act.by) == ("corrects", node_id)]
        return self.view.node(corrected[0]) if corrected and corrected[0] in self.targets else None

    def edges(self) -> Iterator[EdgeDraft]:
        """Yields the edge of every act, which holds its reason."""
        public = {draft.id for draft in self.proposal.nodes if draft.visibility == "public"}
        for act in self.proposal.acts:
            target = self.targets.get(act.target)
            both_public = act.by in public and target is not None and target.visibility == "public"
            yield act.edge("public" if both_public else "private")

    def _done(self, act: Act, known: Node) -> Node:
        if act.kind == "confirms":
            ceiling = authority_of(self.proposal.actor)
            return msgspec.structs.replace(
                known,
                confirmed_as=higher(claim_of(known).stands_as, ceiling),
                confirmed_at=max(self.now, known.valid_from),
            )
        return msgspec.structs.replace(
            known,
            retracted=True,
            valid_to=known.valid_from,
            stated_to=stated_end(known),
            ended_by=act.by,
            disputed=False,
        )


class _CorrectedEdges:
    """The edges of the nodes that a proposal corrects, which go on at what stands in their place."""

    def __init__(
        self,
        proposal: Proposal,
        view: GraphView,
        ontology: Ontology,
        acted: Mapping[str, Node],
        proposed: Mapping[str, Node],
    ) -> None:
        self.kept: list[KeptEdge] = []
        self.kept_in_words: list[str] = []
        self.left_in_words: list[str] = []
        stated: set[EdgeKey] = {(draft.source, draft.type, draft.target) for draft in proposal.edges}

        def end(node_id: str) -> Node | None:
            node = proposed.get(node_id) or acted.get(node_id) or view.node(node_id)
            return node if node is not None and not node.erased and sees(proposal.actor, node) else None

        for act in proposal.acts:
            if act.kind != "corrects" or act.target not in acted:
                continue
            by = proposed[act.by]
            owners = (by.owner, proposal.actor.owner)
            edges = [edge for edge in view.edges_at(act.target) if edge.owner in owners]
            kept, left = Correction(acted[act.target], by, stated, ontology).divided(edges, end)
            self.kept += kept
            if kept:
                named = _edges_in_words(act.target, [kept_edge.edge for kept_edge in kept])
                self.kept_in_words.append(f"{by.id} keeps the edges of {act.target}: {named}")
            if left:
                self.left_in_words.append(
                    f"{by.id}, a {by.type}, can't keep edges of {act.target}: {_edges_in_words(act.target, left)}"
                )


def _edges_in_words(node_id: str, edges: list[Edge]) -> str:
    named = [
        f"{edge.type} {edge.target}" if edge.source == node_id else f"{edge.source} {edge.type} it"
        for edge in edges[:MOST_NAMED]
    ]
    more = len(edges) - MOST_NAMED
    return ", ".join(named) + (f", and {more} more" if more > 0 else "")


def authority_of(actor: Actor) -> SourceClass:
    """Returns the class up to which an actor corrects, retracts and confirms. An operator decides for everybody."""
    return SourceClass.OWNER if actor.kind == "operator" else actor.max_class


def _node_change(
    draft: NodeDraft, proposal: Proposal, view: GraphView, ontology: Ontology, acts: _Acts, now: str
) -> NodeChange:
    before = view.node(draft.id)
    owner = proposal.actor.owner if draft.visibility == "private" else None
    known = ontology.part_of(owner).node_types.get(draft.type)
    corrected = acts.corrected_by(draft.id)
    properties, source_class = draft.properties, proposal.actor.claimed(proposal.source_class)
    start = draft.valid_from or (before.valid_from if before else corrected.valid_from if corrected else now)
    end = draft.valid_to
    if proposal.is_act_only:
        start, end = utc_text(instant_of(now) - INSTANT), now
    after = Node(
        id=draft.id,
        title=draft.title,
        type=draft.type,
        domain=known.domain if known else draft.domain or "",
        properties=properties,
        visibility=draft.visibility,
        owner=owner,
        immutable=draft.immutable,
        valid_from=_observed(start, properties, now),
        valid_to=end,
        recorded_at=now,
        source=proposal.source,
        actor=proposal.actor.name,
        revision=0,
        source_class=source_class,
        stated_at=now,
    )
    if corrected is not None:
        after = _correction(after, corrected, authority_of(proposal.actor), now)
    return NodeChange(draft, before, after)


def _correction(after: Node, corrected: Node, authority: SourceClass, now: str) -> Node:
    """Returns a correction about the subject of what it corrects, standing no lower, and confirmed by its writer."""
    about = {name: corrected.properties[name] for name in ("subject", "predicate") if name in corrected.properties}
    return msgspec.structs.replace(
        after,
        properties=about | after.properties,
        source_class=higher(after.source_class, claim_of(corrected).stands_as),
        confirmed_as=authority,
        confirmed_at=max(now, after.valid_from),
    )


def _observed(start: str, properties: dict[str, Any], now: str) -> str:
    """Returns the start of an observation: now, if the sender's clock is a little ahead. A plan keeps its start."""
    if start <= now or properties.get("observed_at") != start or not is_instant(start):
        return start
    return now if instant_of(start) <= instant_of(now) + CLOCK_SKEW else start


def _edge_change(draft: EdgeDraft, proposal: Proposal, view: GraphView, now: str) -> EdgeChange:
    owner = proposal.actor.owner if draft.visibility == "private" else None
    stated = ((owner and proposal.actor.takes_over) or owner, draft.source, draft.type, draft.target)
    before = view.edge_between(*stated)
    after = Edge(
        id=before.id if before else edge_id(*stated),
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
        source_class=proposal.actor.claimed(proposal.source_class),
    )
    return EdgeChange(draft, before, after)


def _kept_change(kept: KeptEdge, proposal: Proposal, view: GraphView, now: str) -> EdgeChange:
    """Returns the change of an edge that goes on at another node: stated where it was, and no higher than its actor may
    claim."""
    change = _edge_change(kept.draft, proposal, view, now)
    source_class = proposal.actor.claimed(kept.edge.source_class)
    after = msgspec.structs.replace(
        change.after, stated_in=kept.edge.stated_in, source_class=source_class, disputed=kept.edge.disputed
    )
    return EdgeChange(change.draft, change.before, after)


def _replaced_private_edges(
    edges: tuple[EdgeChange, ...], proposal: Proposal, view: GraphView
) -> dict[str, tuple[Edge, Edge]]:
    """Returns the private edges that an operator makes public, ended.

    The public edge replaces them. Otherwise their owner would see both.
    """
    ended = {}
    for public in (change.after for change in edges if proposal.actor.on_behalf_of and change.after.owner is None):
        private = view.edge_between(proposal.actor.on_behalf_of, public.source, public.type, public.target)
        if private is not None and (private.valid_to is None or private.valid_to > public.valid_from):
            end = max(public.valid_from, private.valid_from)
            ended[private.id] = (private, msgspec.structs.replace(private, valid_to=end))
    return ended


@dataclass
class _Facts:
    """Places the facts of a proposal among the known facts of the same subjects and predicates."""

    view: GraphView
    ontology: Ontology
    now: str
    proposed: dict[str, Node]
    acted: dict[str, Node]
    """New states of known nodes that the proposal corrects, retracts or confirms."""
    clashes: list[str] = field(default_factory=list)
    outcomes: list[str] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    _known: dict[str, Node] = field(default_factory=dict)
    _after: dict[str, Node] = field(default_factory=dict)
    _placed: set[str] = field(default_factory=set)
    _proposed_ids: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for node in self.proposed.values():
            if (key := self._key(node)) is not None:
                self._proposed_ids.setdefault(key, []).append(node.id)

    def place(self, change: NodeChange) -> None:
        """Places a changed fact, and those that hold where it was before."""
        if change.is_new_state:
            if change.before is not None:
                self._place_key(self._key(change.before))
            self._place_key(self._key(change.after))

    def place_again(self, target: Node) -> None:
        """Places the facts of the subject and predicate of a node that the proposal acts on."""
        self._known[target.id] = self.view.node(target.id) or target
        self._after[target.id] = self._after.get(target.id, target)
        self._place_key(self._key(target))

    def changed(self) -> Iterator[tuple[Node, Node]]:
        """Yields the known nodes that change, except those of the proposal: their state before and after."""
        for node_id, before in self._known.items():
            after = self._after.get(node_id, before)
            if node_id not in self.proposed and after != before:
                yield before, after

    def successions(self) -> Iterator[EdgeDraft]:
        """Yields an edge for every fact that another one ends now."""
        placed = self._after | self.proposed
        for node_id in (*self._known, *self.proposed):
            after, before = placed.get(node_id), self._known.get(node_id)
            if after is None or after.ended_by is None or after.retracted:
                continue
            successor = placed.get(after.ended_by) or self.view.node(after.ended_by)
            if successor is None or (before is not None and before.ended_by == after.ended_by):
                continue
            if successor.valid_from == after.valid_to:  # a confirmation ends others later, and does not succeed them
                yield EdgeDraft(
                    source=successor.id,
                    target=node_id,
                    type=SUPERSEDES,
                    visibility=successor.visibility,
                    valid_from=successor.valid_from,
                )

    def refuse_unfounded(self, superseding: list[EdgeDraft]) -> None:
        """Records a clash for every stated succession that the rule does not give."""
        placed = self._after | self.proposed
        for draft in superseding:
            source = placed.get(draft.source) or self.view.node(draft.source)
            target = placed.get(draft.target) or self.view.node(draft.target)
            if source is None or target is None:
                continue  # another stage names what is missing
            if target.valid_to is None or target.valid_to > source.valid_from:
                self.clashes.append(f"{source.id} does not supersede {target.id}, which stands higher or is not older")

    def _key(self, node: Node) -> str | None:
        return fact_key(self.ontology, node.owner, node.properties)

    def _place_key(self, key: str | None) -> None:
        if key is None or key in self._placed:
            return
        self._placed.add(key)
        known = {node.id: node for node in self.view.facts(key) if not node.erased}
        proposed = {node_id: self.proposed[node_id] for node_id in self._proposed_ids.get(key, ())}
        states = {**known, **{node_id: self.acted[node_id] for node_id in known if node_id in self.acted}}
        # a known node of the proposal may be about something else from now on
        states = {node_id: node for node_id, node in states.items() if node_id not in self.proposed} | proposed
        # what an import shows as recorded before may have come one after the other
        together = [node for node in proposed.values() if node.origin is None]
        self._refuse_contradictions([claim_of(node) for node in together])
        placed = place(states.values(), self.now)
        for node_id, after in placed.items():
            if node_id in proposed:
                self.proposed[node_id] = after
            else:
                self._after[node_id] = after
        self._known |= {node_id: node for node_id, node in known.items() if node_id not in proposed}
        if len(placed) > 1:
            self.outcomes += [_outcome(placed[node_id], placed, self.now) for node_id in proposed if node_id in placed]
            self.gaps += [gap for node in together if (gap := _gap(placed.get(node.id), placed)) is not None]

    def _refuse_contradictions(self, proposed: list[Claim]) -> None:
        for number, claim in enumerate(proposed):
            for other in proposed[:number]:
                is_same = claim.source == other.source and claim.valid_from == other.valid_from
                if is_same and claim.value != other.value:
                    self.clashes.append(f"{other.id} and {claim.id} of the proposal contradict each other")


def _outcome(fact: Node, placed: dict[str, Node], now: str) -> str:
    """Returns what became of a fact among the others, in words."""
    if fact.ended_by is not None:
        return f"{fact.id} goes into history: {fact.ended_by} holds from {fact.valid_to}"
    if fact.disputed:
        highest, *_ = standing_at(placed.values(), now)
        others = [node_id for node_id, node in placed.items() if node.disputed and node_id != fact.id][:MOST_NAMED]
        why = (
            "it stands highest"
            if highest.id == fact.id
            else f"{highest.id} stands highest, as {claim_of(highest).stands_as} by {highest.source!r}"
        )
        return f"{fact.id} is disputed beside {', '.join(others)}: {why}"
    ended = [node_id for node_id, node in placed.items() if node.ended_by == fact.id][:MOST_NAMED]
    return f"{fact.id} supersedes {', '.join(ended)}" if ended else f"{fact.id} holds"


def _gap(fact: Node | None, placed: dict[str, Node]) -> str | None:
    """Returns in words what holds from when on after a fact with an end that superseded one that went on, or None: what
    is superseded does not hold again.

    A fact that another one which holds then would have superseded too is not named.
    """
    end = None if fact is None else fact.valid_to
    if fact is None or end is None or fact.ended_by is not None:
        return None
    standing = standing_at(placed.values(), end)
    ended = [
        node_id
        for node_id, node in placed.items()
        if node.ended_by == fact.id and (node.stated_to is None or node.stated_to > end)
        if not any(supersedes(claim_of(other), claim_of(node)) for other in standing)
    ]
    if not ended:
        return None
    later = [node.valid_from for node in placed.values() if node.valid_from > end and node.valid_to != node.valid_from]
    from_then = end if standing else min(later, default=None)
    why = f"since {', '.join(ended[:MOST_NAMED])} does not hold again: state it from then"
    if from_then is None:
        return f"nothing holds from {end} on, {why}"
    holding = [
        f"{node.id}, as {claim_of(node).stands_as} by {node.source!r}"
        for node in standing_at(placed.values(), from_then)
    ]
    only = f"only {', and '.join(holding[:MOST_NAMED])}"
    if from_then == end:
        return f"from {end} on {only}, holds, {why}"
    return f"nothing holds from {end} until {from_then}, and from then on {only}, {why}"


@dataclass
class _SingleValuedEdges:
    """Orders edges of single-valued types in time, by the rule of standing as for facts."""

    view: GraphView
    ontology: Ontology
    history: bool = False
    """True if edges that held one after the other, or were disputed, may come together."""
    changed: dict[str, tuple[Edge, Edge]] = field(default_factory=dict)
    clashes: list[str] = field(default_factory=list)
    outcomes: list[str] = field(default_factory=list)
    _proposed: dict[tuple[str, str], list[Edge]] = field(default_factory=dict)

    def placed(self, change: EdgeChange) -> EdgeChange:
        """Returns the change as it stands beside the known edges, and ends or disputes those."""
        edge = change.after
        known = self.ontology.edge_types.get(edge.type)
        if known is None or not known.single_valued or not change.is_new_state:
            return change
        proposed = self._proposed.setdefault((edge.source, edge.type), [])
        if any(not self.history or (overlap(edge, other) and not edge.disputed) for other in proposed):
            self.clashes.append(f"{edge.source} has two {edge.type} in the proposal; one holds at a time")
        proposed.append(edge)
        others = [
            other
            for other in self.view.edges_from(edge.source, edge.type)
            if other.id != edge.id and other.owner == edge.owner and overlap(edge, other)
        ]
        claim = claim_of_edge(edge)
        for other in others:
            if other.valid_from <= edge.valid_from and supersedes(claim, claim_of_edge(other)):
                ended = msgspec.structs.replace(other, valid_to=edge.valid_from, disputed=False)
                self.changed[other.id] = (other, ended)
            elif other.valid_from > edge.valid_from and supersedes(claim_of_edge(other), claim):
                edge = msgspec.structs.replace(edge, valid_to=min(edge.valid_to or other.valid_from, other.valid_from))
            else:
                self.changed[other.id] = (other, msgspec.structs.replace(other, disputed=True))
                edge = msgspec.structs.replace(edge, disputed=True)
                self.outcomes.append(f"{edge.source} {edge.type} {edge.target} is disputed beside {other.target}")
        return EdgeChange(change.draft, change.before, edge)


def overlap(one: Node | Edge, other: Node | Edge) -> bool:
    """Decides whether two states hold at the same time."""
    return (other.valid_to is None or one.valid_from < other.valid_to) and (
        one.valid_to is None or other.valid_from < one.valid_to
    )


def claim_of_edge(edge: Edge) -> Claim:
    """Returns the claim that an edge of a single-valued type makes: its value is its target."""
    confidence = edge.properties.get("confidence")
    return Claim(
        id=edge.id,
        source=folded(edge.stated_in),
        value=edge.target,
        valid_from=edge.valid_from,
        source_class=edge.source_class,
        confidence=confidence if isinstance(confidence, int | float) else None,
        stated_at=edge.recorded_at,
    )
