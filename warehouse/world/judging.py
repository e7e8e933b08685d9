"""Judges a large proposal outside the ledger's lock and checks under the lock whether the judgement still holds.

A judgement depends on the proposal, the instant and the answers of the view. So under the lock it is enough to check
that no later event changed any of those answers, because judging again would then give the same result.

Example: a proposal that edits node A and adds an edge to node B is judged at revision 40. Meanwhile event 41 changes
node C, which is not among the recorded subjects, so the judgement is written. If event 41 changes B, the proposal is
judged again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from contracts.world.case import Case
from contracts.world.change_set import plan
from contracts.world.identity import dedupe_key, statement_key
from contracts.world.own_ontology import NO_WORDS, ontology_with
from contracts.world.proposal import Proposal
from contracts.world.records import Edge, Event, Node, recorded_again
from contracts.world.stages import Judgement
from contracts.world.validator import Judged, judge
from contracts.world.view import GraphView
from warehouse.ledger.ledger import Clock, Reader
from warehouse.world.events import events_after, head_revision
from warehouse.world.ontologies import words_of
from warehouse.world.view import LedgerView

MOST_EVENTS_SINCE = 20_000
"""Maximum number of events checked under the lock. A judgement that is further behind is discarded."""


@dataclass
class Subjects:
    """The subjects of a judgement: ids that were queried or returned, and keys of queried lists."""

    nodes: set[str] = field(default_factory=set)
    edges: set[str] = field(default_factory=set)
    fact_keys: set[str] = field(default_factory=set)
    dedupe_keys: set[str] = field(default_factory=set)
    edges_from: set[tuple[str, str]] = field(default_factory=set)
    edges_to: set[str] = field(default_factory=set)
    edges_between: set[tuple[str, str, str]] = field(default_factory=set)
    edges_at: set[str] = field(default_factory=set)
    newest_of: dict[str, int] = field(default_factory=dict)
    """The newest revision of each owner at that time."""

    def touched_by(self, events: Iterable[Event]) -> bool:
        """Returns True if one of these events could change an answer other than an owner's newest revision."""
        return any(self._touched_by(event) for event in events)

    def unchanged_in(self, reader: Reader, revision: int) -> bool:
        """Returns True if a judgement made at `revision` would be the same for the graph that `reader` sees."""
        view = LedgerView(reader)
        if any(view.newest_of(owner) != newest for owner, newest in self.newest_of.items()):
            return False
        events = events_after(reader, revision, MOST_EVENTS_SINCE + 1)
        return len(events) <= MOST_EVENTS_SINCE and not self.touched_by(events)

    def _touched_by(self, event: Event) -> bool:
        if event.node is not None:
            node = event.node
            return (
                node.id in self.nodes
                or dedupe_key(node.owner, node.type, node.title) in self.dedupe_keys
                or statement_key(node.owner, node.properties) in self.fact_keys
            )
        edge = event.edge
        assert edge is not None, "an event carries a node or an edge"
        return (
            edge.id in self.edges
            or (edge.source, edge.type, edge.target) in self.edges_between
            or (edge.source, edge.type) in self.edges_from
            or edge.target in self.edges_to
            or not self.edges_at.isdisjoint((edge.source, edge.target))
        )


class RecordingView:
    """A `GraphView` that wraps another view and records its queries and results in `subjects`."""

    def __init__(self, view: GraphView) -> None:
        self._view = view
        self.subjects = Subjects()

    def node(self, node_id: str) -> Node | None:
        """Returns the newest state of a node."""
        self.subjects.nodes.add(node_id)
        return self._view.node(node_id)

    def edge(self, edge_id: str) -> Edge | None:
        """Returns the newest state of an edge."""
        self.subjects.edges.add(edge_id)
        return self._view.edge(edge_id)

    def edge_between(self, owner: str | None, source: str, edge_type: str, target: str) -> Edge | None:
        """Returns the newest state of the edge that an owner states. Any edge with these ends and type counts."""
        self.subjects.edges_between.add((source, edge_type, target))
        return self._view.edge_between(owner, source, edge_type, target)

    def facts(self, fact_key: str) -> list[Node]:
        """Returns every node of one subject and single-valued predicate. The ids reveal if one leaves the list."""
        self.subjects.fact_keys.add(fact_key)
        facts = self._view.facts(fact_key)
        self.subjects.nodes.update(fact.id for fact in facts)
        return facts

    def edges_from(self, source: str, edge_type: str) -> list[Edge]:
        """Returns every edge of a type from a node."""
        self.subjects.edges_from.add((source, edge_type))
        return self._view.edges_from(source, edge_type)

    def edges_to(self, target: str) -> list[Edge]:
        """Returns every live edge to a node."""
        self.subjects.edges_to.add(target)
        return self._view.edges_to(target)

    def edges_at(self, node_id: str) -> list[Edge]:
        """Returns every edge from or to a node."""
        self.subjects.edges_at.add(node_id)
        return self._view.edges_at(node_id)

    def alike(self, dedupe_key: str) -> list[str]:
        """Returns ids of live nodes of one owner, type and title. The ids reveal if one leaves the list."""
        self.subjects.dedupe_keys.add(dedupe_key)
        ids = self._view.alike(dedupe_key)
        self.subjects.nodes.update(ids)
        return ids

    def head(self) -> int:
        """Returns the newest revision of the graph. It only rises, so a known revision stays known."""
        return self._view.head()

    def newest_of(self, owner: str) -> int:
        """Returns the newest revision of an owner's nodes and edges."""
        newest = self._view.newest_of(owner)
        self.subjects.newest_of[owner] = newest
        return newest


@dataclass(frozen=True)
class Judgment:
    """A judged proposal: the stages' results, the states to write, and the subjects on which both depend."""

    judged: Judged
    nodes_and_edges: tuple[Event, ...]
    """The states to write, in order; their `seq` is still 0."""
    revision: int
    subjects: Subjects
    owner: str | None = None
    words: str = NO_WORDS
    """The owner's words by which it was judged (`OwnOntology.text`)."""

    @property
    def states(self) -> list[Node | Edge]:
        """Returns the states to write, in order."""
        return [state for event in self.nodes_and_edges if (state := event.node or event.edge) is not None]

    def holds_in(self, reader: Reader) -> bool:
        """Returns True if the judgement would be the same for the graph that `reader` sees."""
        if words_of(reader, self.owner) != self.words:
            return False
        return self.subjects.unchanged_in(reader, self.revision)


def judge_at(
    reader: Reader, proposal: Proposal, aligned: Judgement, clock: Clock, *, confirmed: bool = False
) -> Judgment:
    """Judges a proposal, as returned by `checked`, against the graph that `reader` sees.

    Raises like `refuse_conflict`.
    """
    # the first query fixes the state that all others see, so everything in it was recorded before the clock is read
    revision = head_revision(reader)
    view = RecordingView(LedgerView(reader))
    words = words_of(reader, proposal.actor.owner)
    case = plan(proposal, view, ontology_with(words), clock())
    judged = judge(case, aligned, confirmed=confirmed)
    states = new_states(case) if judged.verdict == "approved" else []
    events = tuple(
        Event(seq=0, node=state) if isinstance(state, Node) else Event(seq=0, edge=state) for state in states
    )
    return Judgment(judged, events, revision, view.subjects, proposal.actor.owner, words)


def new_states(case: Case) -> list[Node | Edge]:
    """Returns every state that an approved case writes, in order."""
    return [
        *(recorded_again(node, case.now) for _, node in case.changed_nodes),
        *(recorded_again(edge, case.now) for _, edge in case.changed_edges),
        *(change.after for change in case.changes if change.is_new_state),
    ]
