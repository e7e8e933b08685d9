"""Decides which edges of a corrected node continue at its replacement. Pure.

Example: the task "Pay rent" is assigned to Ann, and a signal corrects its day. The signal's node is assigned to Ann
too, from the same day as the wrong node, unless the signal names another person. The edges of the wrong node stay
unchanged, so queries of the earlier state still find them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from contracts.world.case import MOST_NAMED, sees
from contracts.world.facts import stated_end
from contracts.world.ontology import ACT_EDGES, SUPERSEDES, Ontology
from contracts.world.proposal import EdgeDraft, Proposal
from contracts.world.records import Edge, Node
from contracts.world.view import GraphView

EdgeKey = tuple[str, str, str]
"""The source, type and target of an edge."""

_OF_THE_NODE_ITSELF = frozenset({SUPERSEDES, *ACT_EDGES})
"""Relationships that follow from standing and acts, so a replacement does not inherit them."""


@dataclass(frozen=True)
class KeptEdge:
    """An edge of a corrected node, and the draft of the same edge at the replacement."""

    edge: Edge
    draft: EdgeDraft


@dataclass(frozen=True)
class Correction:
    """A corrected node and its replacement."""

    corrected: Node
    by: Node
    stated: Collection[EdgeKey]
    """The edges that the correcting proposal itself states."""
    ontology: Ontology

    def divided(self, edges: Iterable[Edge], end: Callable[[str], Node | None]) -> tuple[list[KeptEdge], list[Edge]]:
        """Returns the edges that continue at the replacement, and those that it can't have.

        Neither list contains edges to or from retracted nodes, or edges that the correction restates. `end` returns a
        node that the owner of the edges sees, or None.
        """
        kept, left = [], []
        for edge in edges:
            draft = self._moved(edge)
            other = end(draft.target if draft.source == self.by.id else draft.source)
            if other is None or other.retracted or not self._ever_held(edge) or self._is_stated(draft):
                continue
            if self.can_have(edge, other):
                kept.append(KeptEdge(edge, draft))
            else:
                left.append(edge)
        return kept, left

    def can_have(self, edge: Edge, other: Node) -> bool:
        """Decides whether the replacement may have an edge of the corrected node to or from another node."""
        source, target = (self.by, other) if edge.source == self.corrected.id else (other, self.by)
        known = self.ontology.part_of(edge.owner).edge_types.get(edge.type)
        is_fixed = source.immutable and source.visibility == edge.visibility
        is_hidden = edge.visibility == "public" and "private" in (source.visibility, target.visibility)
        is_allowed = known is not None and known.allows(source.type, target.type)
        return is_allowed and source.id != target.id and not (is_fixed or is_hidden)

    def _moved(self, edge: Edge) -> EdgeDraft:
        at = {self.corrected.id: self.by.id}
        start, end = self._period_of(edge)
        return EdgeDraft(
            source=at.get(edge.source, edge.source),
            target=at.get(edge.target, edge.target),
            type=edge.type,
            properties=edge.properties,
            visibility=edge.visibility,
            valid_from=start,
            valid_to=end,
        )

    def _period_of(self, edge: Edge) -> tuple[str, str | None]:
        """Returns the time for which an edge holds at the replacement: the same, except that an edge from the corrected
        node that began with it begins with the replacement, and one that ended with it ends with the replacement."""
        start, end = edge.valid_from, edge.valid_to
        if edge.source == self.corrected.id and start == self.corrected.valid_from:
            start = self.by.valid_from
        if end is not None and end == stated_end(self.corrected):
            end = stated_end(self.by)
        return (edge.valid_from, edge.valid_to) if end is not None and end <= start else (start, end)

    def _ever_held(self, edge: Edge) -> bool:
        """Decides whether an edge ever held and doesn't merely record an act or a succession."""
        return edge.type not in _OF_THE_NODE_ITSELF and edge.valid_to != edge.valid_from

    def _is_stated(self, draft: EdgeDraft) -> bool:
        """Decides whether the correction itself states an edge, or another edge of the same single-valued type."""
        known = self.ontology.edge_types.get(draft.type)
        if known is not None and known.single_valued:
            return any((source, of) == (draft.source, draft.type) for source, of, _ in self.stated)
        return (draft.source, draft.type, draft.target) in self.stated


def corrections_of(node: Node, view: GraphView) -> list[Node]:
    """Returns the nodes that correct a node, each one the one before it. The last one stands, unless it was retracted
    without a replacement."""
    chain: list[Node] = []
    seen = {node.id}
    while node.retracted:
        by = None if node.ended_by is None or node.ended_by in seen else view.node(node.ended_by)
        if by is None or by.erased or all(edge.target != node.id for edge in view.edges_from(by.id, "CORRECTS")):
            break
        seen.add(by.id)
        chain.append(by)
        node = by
    return chain


class CorrectedEdges:
    """The edges of the nodes that a proposal corrects, divided by whether they continue at the replacements."""

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
