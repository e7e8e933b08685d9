"""Places the facts and the single-valued edges of a proposal in time, among those that the graph has. Pure.

The rule of standing decides (`facts.py`); the outcomes are also put into words.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate

import msgspec

from contracts.world.case import MOST_NAMED, EdgeChange, NodeChange
from contracts.world.facts import Claim, claim_of, claim_of_edge, place, standing_at, supersedes
from contracts.world.identity import fact_key
from contracts.world.ontology import SUPERSEDES, Ontology
from contracts.world.proposal import EdgeDraft
from contracts.world.records import Edge, Node, overlap
from contracts.world.view import GraphView


@dataclass
class FactTimelines:
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
        """Places a changed fact, and the facts of the subject and predicate that it had before."""
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
        """Yields the state before and after of each known node that changes and is not part of the proposal."""
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
            if successor.valid_from == after.valid_to:  # not a confirmation, which ends others later: no succession
                yield EdgeDraft(
                    source=successor.id,
                    target=node_id,
                    type=SUPERSEDES,
                    visibility=successor.visibility,
                    valid_from=successor.valid_from,
                )

    def refuse_unfounded(self, superseding: list[EdgeDraft]) -> None:
        """Records a clash for every stated succession that the rule does not produce."""
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
        # the proposal may give a known node another subject
        states = {node_id: node for node_id, node in states.items() if node_id not in self.proposed} | proposed
        # states that an import shows as recorded earlier may have held one after the other
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
    """Describes the outcome for a fact among the others."""
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
        return f"{fact.id} is disputed, along with {', '.join(others)}: {why}"
    ended = [node_id for node_id, node in placed.items() if node.ended_by == fact.id][:MOST_NAMED]
    return f"{fact.id} supersedes {', '.join(ended)}" if ended else f"{fact.id} holds"


def _gap(fact: Node | None, placed: dict[str, Node]) -> str | None:
    """Describes what holds once a fact with an end is over that superseded a fact of longer duration, or returns None.

    A superseded fact does not hold again. It is not named if another fact that holds then would have superseded it too.
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


class _KnownEdges:
    """Edges of one source and type, ordered by their start so that those at one time are found without reading all."""

    def __init__(self, edges: Iterable[Edge]) -> None:
        self.edges = sorted(edges, key=lambda edge: edge.valid_from)
        self._ends = list(accumulate((edge.valid_to or _NEVER for edge in self.edges), max))
        """The latest end of the edges up to each one."""

    def during(self, edge: Edge) -> list[Edge]:
        """Returns the edges that may hold at the same time as another one, in order."""
        last = len(self.edges)
        if edge.valid_to is not None:
            last = bisect_left(self.edges, edge.valid_to, key=lambda known: known.valid_from)
        first = last
        while first and self._ends[first - 1] > edge.valid_from:
            first -= 1
        return self.edges[first:last]


_NEVER = "~"
"""Later than every time."""

MOST_EXAMINED = 100
"""Maximum number of edges that a proposal ends and that are examined for gaps."""


@dataclass
class EdgeTimelines:
    """Orders edges of single-valued types in time, by the rule of standing as for facts."""

    view: GraphView
    ontology: Ontology
    changed: dict[str, tuple[Edge, Edge]] = field(default_factory=dict)
    clashes: list[str] = field(default_factory=list)
    outcomes: list[str] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    _known: dict[tuple[str, str, str | None], _KnownEdges] = field(default_factory=dict)
    """The known edges that the proposal does not state, by source, type and owner."""
    _ended: list[tuple[Edge, str]] = field(default_factory=list)
    """Known edges that the proposal ends, each with the id of the edge that ends it."""

    def placed(self, changes: Iterable[EdgeChange]) -> list[EdgeChange]:
        """Returns the changes of a proposal with each edge in its place among the known edges, and ends or disputes
        those."""
        changes = list(changes)
        proposed = {change.after.id: change.after for change in changes if self._is_ordered(change)}
        self._refuse_contradictions(proposed.values())
        placed = [self._placed(change, proposed) if change.after.id in proposed else change for change in changes]
        self._name_gaps(change for change in placed if change.after.id in proposed)
        return placed

    def _is_ordered(self, change: EdgeChange) -> bool:
        known = self.ontology.edge_types.get(change.after.type)
        return known is not None and known.single_valued and change.is_new_state

    def _refuse_contradictions(self, proposed: Iterable[Edge]) -> None:
        """Records a clash for every edge that holds at the same time as another one of the proposal. Disputed edges may
        do so."""
        for (source, edge_type), edges in _by_source(edge for edge in proposed if not edge.disputed).items():
            edges.sort(key=lambda edge: (edge.valid_from, edge.valid_to is None, edge.valid_to))
            longest = edges[0]
            for edge in edges[1:]:
                if overlap(longest, edge):
                    self.clashes.append(f"{source} has two {edge_type} in the proposal; one holds at a time")
                if longest.valid_to is not None and (edge.valid_to is None or edge.valid_to > longest.valid_to):
                    longest = edge

    def _name_gaps(self, placed: Iterable[EdgeChange]) -> None:
        """Records when a node has no target because an edge with an end has ended one that would have held for longer.

        The ended edge does not hold again.
        """
        proposed = {change.after.id: change.after for change in placed}
        by_source = _by_source(proposed.values())
        for before, by in self._ended[:MOST_EXAMINED]:
            end = proposed[by].valid_to
            if end is None or (before.valid_to is not None and before.valid_to <= end):
                continue
            known = self._known[before.source, before.type, before.owner].edges
            current = (self.changed.get(edge.id, (edge, edge))[1] for edge in known)
            later = [
                edge.valid_from
                for edge in (*current, *by_source[before.source, before.type])
                if edge.valid_to is None or end < edge.valid_to
            ]
            if (start := min(later, default=None)) is None or start > end:
                until = "on" if start is None else f"until {start}"
                why = f"since {before.target} does not hold again: state it from then"
                self.gaps.append(f"{before.source} has no {before.type} from {end} {until}, {why}")

    def _placed(self, change: EdgeChange, proposed: Mapping[str, Edge]) -> EdgeChange:
        edge = change.after
        claim = claim_of_edge(edge)
        key = edge.source, edge.type, edge.owner
        if key not in self._known:
            edges = self.view.edges_from(edge.source, edge.type)
            self._known[key] = _KnownEdges(
                known for known in edges if known.owner == edge.owner and known.id not in proposed
            )
        known = {edge.id: edge for edge in self._known[key].during(edge)}
        others = [self.changed.get(edge_id, (other, other))[1] for edge_id, other in known.items()]
        others = [other for other in others if overlap(edge, other)]
        later = [other for other in others if other.valid_from > edge.valid_from]
        if ends := [other.valid_from for other in later if supersedes(claim_of_edge(other), claim)]:
            edge = msgspec.structs.replace(edge, valid_to=min(ends))
        for other in others:
            if not overlap(edge, other):
                continue
            if other.valid_from <= edge.valid_from and supersedes(claim, claim_of_edge(other)):
                if other.valid_from < edge.valid_from:
                    self._ended.append((other, edge.id))
                ended = msgspec.structs.replace(other, valid_to=edge.valid_from, disputed=False)
                self.changed[other.id] = (known[other.id], ended)
            else:
                self.changed[other.id] = (known[other.id], msgspec.structs.replace(other, disputed=True))
                edge = msgspec.structs.replace(edge, disputed=True)
                self.outcomes.append(f"{edge.source} {edge.type} {edge.target} is disputed, along with {other.target}")
        return EdgeChange(change.draft, change.before, edge)


def _by_source(edges: Iterable[Edge]) -> dict[tuple[str, str], list[Edge]]:
    """Groups edges by their source and type."""
    groups: dict[tuple[str, str], list[Edge]] = {}
    for edge in edges:
        groups.setdefault((edge.source, edge.type), []).append(edge)
    return groups
