"""Decides which edges of a corrected node go on at the node that stands in its place. Pure.

Example: the task "Pay rent" is assigned to Ann, and a signal corrects its day. Its node is assigned to Ann too,
from the day from which the wrong one was, unless the signal names another person. The edges of the wrong node stay as
they were: whoever asks for what was known before still finds them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from contracts.world.ontology import ACT_EDGES, SUPERSEDES, Ontology
from contracts.world.proposal import EdgeDraft
from contracts.world.records import Edge, Node
from contracts.world.view import GraphView

EdgeKey = tuple[str, str, str]
"""The source, type and target of an edge."""

_OF_THE_NODE_ITSELF = frozenset({SUPERSEDES, *ACT_EDGES})
"""Relationships that follow from standing and acts, so that another node does not take them over."""


@dataclass(frozen=True)
class KeptEdge:
    """An edge of a corrected node, and the draft of the same edge at the node in its place."""

    edge: Edge
    draft: EdgeDraft


@dataclass(frozen=True)
class Correction:
    """A node that stands in the place of a corrected one."""

    corrected: Node
    by: Node
    stated: Collection[EdgeKey]
    """The edges that the proposal of the correction states itself."""
    ontology: Ontology

    def divided(self, edges: Iterable[Edge], end: Callable[[str], Node | None]) -> tuple[list[KeptEdge], list[Edge]]:
        """Returns the edges that go on, and those that the node in the place can't have. Edges to and from retracted
        nodes are neither, nor is one of which the correction states another. `end` returns a node that the owner of the
        edges sees, or None."""
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
        """Decides whether the node in the place may have an edge of the corrected one to or from another node."""
        source, target = (self.by, other) if edge.source == self.corrected.id else (other, self.by)
        known = self.ontology.part_of(edge.owner).edge_types.get(edge.type)
        is_fixed = source.immutable and source.visibility == edge.visibility
        is_hidden = edge.visibility == "public" and "private" in (source.visibility, target.visibility)
        is_allowed = known is not None and known.allows(source.type, target.type)
        return is_allowed and source.id != target.id and not (is_fixed or is_hidden)

    def _moved(self, edge: Edge) -> EdgeDraft:
        at = {self.corrected.id: self.by.id}
        return EdgeDraft(
            source=at.get(edge.source, edge.source),
            target=at.get(edge.target, edge.target),
            type=edge.type,
            properties=edge.properties,
            visibility=edge.visibility,
            valid_from=edge.valid_from,
            valid_to=edge.valid_to,
        )

    def _ever_held(self, edge: Edge) -> bool:
        """Decides whether an edge ever held, and is more than the record of an act or a succession."""
        return edge.type not in _OF_THE_NODE_ITSELF and edge.valid_to != edge.valid_from

    def _is_stated(self, draft: EdgeDraft) -> bool:
        """Decides whether the correction states an edge itself, or another one of which only one holds at a time."""
        known = self.ontology.edge_types.get(draft.type)
        if known is not None and known.single_valued:
            return any((source, of) == (draft.source, draft.type) for source, of, _ in self.stated)
        return (draft.source, draft.type, draft.target) in self.stated


def in_place_of(node: Node, view: GraphView) -> Node | None:
    """Returns the node that stands in the place of a corrected one, over any number of corrections, or None if it was
    retracted without one."""
    seen = {node.id}
    while node.retracted:
        by = None if node.ended_by is None or node.ended_by in seen else view.node(node.ended_by)
        if by is None or by.erased or all(edge.target != node.id for edge in view.edges_from(by.id, "CORRECTS")):
            return None
        seen.add(by.id)
        node = by
    return node
