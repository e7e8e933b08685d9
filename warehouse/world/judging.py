"""Judging a large proposal outside of the ledger's lock, and finding out under it whether the judgement still holds.

A judgement is a function of the proposal, the instant and what the view answered. So the lock needs to be held only to
see that no event since has changed one of those answers: then judging it again would give the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from contracts.world.change_set import Case, plan
from contracts.world.identity import dedupe_key, fact_key
from contracts.world.ontology import load_ontology
from contracts.world.proposal import Proposal
from contracts.world.records import Edge, Event, Node
from contracts.world.stages import Judgement
from contracts.world.validator import Judged, judge
from contracts.world.view import GraphView
from warehouse.ledger.ledger import Clock, Reader
from warehouse.world.events import events_after, head_revision
from warehouse.world.view import LedgerView

MOST_EVENTS_SINCE = 20_000
"""Events looked through under the lock. A judgement that is behind by more is not used."""


@dataclass
class Subjects:
    """What a judgement asked about: ids that were asked for or came in an answer, and keys of lists."""

    nodes: set[str] = field(default_factory=set)
    edges: set[str] = field(default_factory=set)
    fact_keys: set[str] = field(default_factory=set)
    dedupe_keys: set[str] = field(default_factory=set)
    edges_from: set[tuple[str, str]] = field(default_factory=set)
    newest_of: dict[str, int] = field(default_factory=dict)
    """The newest revision that each owner had."""

    def touched_by(self, events: Iterable[Event]) -> bool:
        """Whether one of these events could change an answer, except those about an owner's newest revision."""
        return any(self._touched_by(event) for event in events)

    def _touched_by(self, event: Event) -> bool:
        if event.node is not None:
            node = event.node
            return (
                node.id in self.nodes
                or dedupe_key(node.owner, node.type, node.title) in self.dedupe_keys
                or fact_key(load_ontology(), node.owner, node.properties) in self.fact_keys
            )
        edge = event.edge
        assert edge is not None, "an event carries a node or an edge"
        return edge.id in self.edges or (edge.source, edge.type) in self.edges_from


class RecordingView:
    """A `GraphView` that notes in `subjects` everything that another one was asked and answered."""

    def __init__(self, view: GraphView) -> None:
        self._view = view
        self.subjects = Subjects()

    def node(self, node_id: str) -> Node | None:
        """The newest state of a node."""
        self.subjects.nodes.add(node_id)
        return self._view.node(node_id)

    def edge(self, edge_id: str) -> Edge | None:
        """The newest state of an edge."""
        self.subjects.edges.add(edge_id)
        return self._view.edge(edge_id)

    def facts(self, fact_key: str) -> list[Node]:
        """Every node of one subject and single-valued predicate. One that leaves them is found by its id."""
        self.subjects.fact_keys.add(fact_key)
        facts = self._view.facts(fact_key)
        self.subjects.nodes.update(fact.id for fact in facts)
        return facts

    def edges_from(self, source: str, edge_type: str) -> list[Edge]:
        """Every edge of a type from a node."""
        self.subjects.edges_from.add((source, edge_type))
        return self._view.edges_from(source, edge_type)

    def alike(self, dedupe_key: str) -> list[str]:
        """Ids of live nodes of one owner, type and title. One that leaves them is found by its id."""
        self.subjects.dedupe_keys.add(dedupe_key)
        ids = self._view.alike(dedupe_key)
        self.subjects.nodes.update(ids)
        return ids

    def newest_of(self, owner: str) -> int:
        """The newest revision of an owner's nodes and edges."""
        newest = self._view.newest_of(owner)
        self.subjects.newest_of[owner] = newest
        return newest


@dataclass(frozen=True)
class Judgment:
    """A judged proposal: the stages' results, the states to write, and what both rest on at `revision`."""

    judged: Judged
    nodes_and_edges: tuple[Event, ...]
    """The states to write, in order; their `seq` is still 0."""
    revision: int
    subjects: Subjects

    @property
    def states(self) -> list[Node | Edge]:
        """The states to write, in order."""
        return [state for event in self.nodes_and_edges if (state := event.node or event.edge) is not None]

    def holds_in(self, reader: Reader) -> bool:
        """Whether the graph that `reader` sees would be judged the same."""
        view = LedgerView(reader)
        if any(view.newest_of(owner) != newest for owner, newest in self.subjects.newest_of.items()):
            return False
        events = events_after(reader, self.revision, MOST_EVENTS_SINCE + 1)
        return len(events) <= MOST_EVENTS_SINCE and not self.subjects.touched_by(events)


def judge_at(reader: Reader, proposal: Proposal, aligned: Judgement, clock: Clock) -> Judgment:
    """Judge a proposal, as `checked` gave it, by the graph that `reader` sees. Raises `RevisionConflict`."""
    # this first question opens the state that all others see; what it holds was recorded before the clock is read
    revision = head_revision(reader)
    view = RecordingView(LedgerView(reader))
    case = plan(proposal, view, load_ontology(), clock())
    judged = judge(case, aligned)
    states = new_states(case) if judged.verdict == "approved" else []
    events = tuple(
        Event(seq=0, node=state) if isinstance(state, Node) else Event(seq=0, edge=state) for state in states
    )
    return Judgment(judged, events, revision, view.subjects)


def new_states(case: Case) -> list[Node | Edge]:
    """Every state that an approved case writes, in order."""
    return [
        *(msgspec.structs.replace(fact, valid_to=end, recorded_at=case.now) for fact, end in case.ended_nodes),
        *(msgspec.structs.replace(edge, valid_to=end, recorded_at=case.now) for edge, end in case.ended_edges),
        *(change.after for change in case.changes if change.is_new_state),
    ]
