"""Computes the states that a part of an import would write and the changes to known states. Pure.

`change_set.py` does the same for proposals.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

import msgspec

from contracts.standing import higher, rank
from contracts.times import instant_of, utc_text
from contracts.world.case import Case, EdgeChange, NodeChange
from contracts.world.change_set import edge_change
from contracts.world.drafts import edge_draft_of, node_draft_of
from contracts.world.ontology import ACT_EDGES, SUPERSEDES, Ontology
from contracts.world.proposal import CLOCK_SKEW, Actor, Proposal, authority_of
from contracts.world.records import Edge, Node, State, recorded_again
from contracts.world.timelines import EdgeTimelines, FactTimelines
from contracts.world.view import GraphView


@dataclass(frozen=True)
class ImportedStates:
    """The states of a part of an import, and the facts about the rest of the file that its judgement needs."""

    nodes: tuple[tuple[Node, ...], ...]
    """The states of each node, oldest first. One that states no start has an empty one."""
    edges: tuple[tuple[Edge, ...], ...]
    others: Mapping[str, Node]
    """The current states of the nodes of the whole file, by id."""
    endings: Collection[tuple[str, str]]
    """Pairs of ids: a node, and another that it ended in some state of the file."""
    confirmed: Collection[str]
    """The nodes that are confirmed in some state of the file."""
    unchanged: int = 0
    """The number of plain nodes and edges of the part whose statements the graph has; they are not in `nodes` and
    `edges`."""


@dataclass(frozen=True)
class ImportCase:
    """The stages' input for a part of an import, and all states that it would write, in order."""

    case: Case
    written: tuple[Node | Edge, ...]
    known: int
    """The number of written states of nodes and edges that are in the graph but not in the file; they come first."""


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

    `proposal` names the actor and the source. The rule of standing decides again about the order of the file's facts,
    together with the facts of the graph; where the result differs from the file, one more state is written. States
    before the current one are only written for nodes and edges that the graph does not know.
    """
    recorded_at = utc_text(now)
    imported = _started(imported, view, recorded_at)
    drafted = [_imported_change(states[-1], view, ontology) for states in imported.nodes]
    drafted = [change for change in drafted if change.is_new_state or not change.after.retracted]
    changed = {change.after.id: change.after for change in drafted if change.is_new_state}
    facts = FactTimelines(view, ontology, recorded_at, changed, {})
    for change in drafted:
        facts.place(change)
    nodes = tuple(
        NodeChange(change.draft, change.before, facts.proposed.get(change.after.id, change.after)) for change in drafted
    )
    single_valued = EdgeTimelines(view, ontology)
    edges = single_valued.placed(
        EdgeChange(edge_draft_of(states[-1]), view.edge(states[-1].id), states[-1]) for states in imported.edges
    )
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
        edge_change(draft, proposal, view, recorded_at)
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
        proposed=_Either({change.after.id: change.after for change in nodes}, imported.others),
    )
    return ImportCase(case, tuple(_written(case, imported)), len(case.changed_nodes) + len(case.changed_edges))


class _Either(Mapping[str, Node]):
    """The nodes of two mappings, of which the first has precedence."""

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
    """Gives a start to every state. As with drafts, a state without one keeps that of the known state, or starts
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
    """Yields the states that an import writes: changed known ones first, then those of each node and edge."""
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
    """Decides whether an edge records a succession or an act that the states of the file confirm."""
    if edge.type == "CONFIRMS":
        return edge.target in imported.confirmed
    return edge.type in (SUPERSEDES, *ACT_EDGES) and (edge.source, edge.target) in imported.endings


def _disordered(imported: ImportedStates, now: str) -> Iterator[str]:
    """Yields a sentence for each node or edge whose states are out of order or contradict themselves."""
    latest = utc_text(instant_of(now) + CLOCK_SKEW)
    for states in _all_states(imported):
        times = [now if state.origin is None else state.origin.recorded_at for state in states]
        if len(states) > 1 and any(state.origin is None for state in states):
            yield f"{states[-1].id} has a state before another without the time at which it was recorded"
        elif times != sorted(times) or times[-1] > latest:
            yield f"{states[-1].id} has a state that was recorded before the one that it follows, or is in the future"
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
