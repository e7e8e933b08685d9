"""Compares a built graph with the ledger: statements that its documents no longer make end, and decisions of the owner
stay.

Example: an earlier build found the tasks "Paint" and "Sweep" in `notes.md`. The text now contains only "Paint", so
"Sweep" ends, with its edges. If its owner had confirmed "Sweep", or if `other.md` stated it too, it would stay. If its
owner had corrected "Paint", it would not be written again, and the text's statements about it, such as who is to paint,
would apply to its replacement.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import msgspec

from contracts.world.drafts import node_draft_of
from contracts.world.extraction.findings import MOST_SPANS
from contracts.world.extraction.sources import documents_of
from contracts.world.ontology import Ontology
from contracts.world.proposal import EdgeDraft, NodeDraft, Proposal, ended_edge, ended_node
from contracts.world.records import Edge, Node, is_live


class WithheldNode(NamedTuple):
    """A node that is not written, with the reason."""

    id: str
    reason: Literal["corrected", "forgotten", "other_type"]


@dataclass(frozen=True)
class Rebuilt:
    """The proposal of a build, the nodes that it ends, and those that it withholds."""

    proposal: Proposal
    replaced: tuple[str, ...]
    withheld: tuple[WithheldNode, ...]


@dataclass(frozen=True)
class Former:
    """The ledger's content: the known states of the proposal's nodes by id, and every state of the same graph.

    `moved` are the ids of nodes that are now in other documents than those from which they were read.
    """

    known: Mapping[str, Node]
    nodes: Collection[Node]
    edges: Collection[Edge]
    moved: Collection[str] = frozenset()
    corrections: Mapping[str, Sequence[Node]] = field(default_factory=dict)
    """The nodes that correct known nodes, by the ids of these (see `corrections_of`)."""
    settled: Collection[tuple[str, str]] = ()
    """Pairs of a replacement and a single-valued type of which it has an edge that no build stated."""

    @property
    def in_place(self) -> dict[str, Node]:
        """Returns the replacements that stand, by the ids of the corrected nodes."""
        last = {node_id: nodes[-1] for node_id, nodes in self.corrections.items() if nodes}
        return {node_id: node for node_id, node in last.items() if not node.retracted}

    def every(self, node_id: str) -> tuple[str, ...]:
        """Returns the ids of a node and of every node that has replaced it."""
        return node_id, *(node.id for node in self.corrections.get(node_id, ()))


def rebuilt(proposal: Proposal, documents: Collection[str], former: Former, ontology: Ontology, now: str) -> Rebuilt:
    """Returns what a build writes. `documents` are those that it read; statements of the graph's other documents
    stay."""
    withheld = {node.id: node for node in _withheld(proposal.nodes, former.known)}
    drafts = [
        _again(draft, former.known.get(draft.id), None if draft.id in former.moved else documents, now)
        for draft in proposal.nodes
        if draft.id not in withheld
    ]
    edges = list({_key(draft): draft for draft in _edges_between(proposal, withheld, former, ontology)}.values())
    stated = {draft.id for draft in drafts} | withheld.keys() | set(former.moved)
    ended = [node for node in former.nodes if node.id not in stated and _ends(node) and _is_over(node, documents)]
    known_edges = {_key(edge): edge for edge in former.edges}
    corrected = {node.id for node in withheld.values() if node.reason == "corrected"}
    of_corrected = {
        (source, draft.type, target)
        for draft in proposal.edges
        if not corrected.isdisjoint((draft.source, draft.target))
        for source in former.every(draft.source)
        for target in former.every(draft.target)
    }
    stated_edges = {_key(draft) for draft in edges} | of_corrected
    single = {
        (draft.source, draft.type)
        for draft in edges
        if draft.type in ontology.edge_types and ontology.edge_types[draft.type].single_valued
    }  # the rule of standing ends the edges that these replace
    # edges that are no longer stated of a node end; the replacement of a node that is no longer stated stays as it is
    said = {node.id for node in former.nodes} | {
        node_id for corrected_id in corrected for node_id in former.every(corrected_id)
    }
    ended_edges = [
        edge
        for key, edge in known_edges.items()
        if key not in stated_edges and (edge.source, edge.type) not in single
        if edge.source in said and _is_over(edge, documents)
    ]
    edges = [_edge_again(draft, known_edges.get(_key(draft)), now) for draft in edges]
    return Rebuilt(
        msgspec.structs.replace(
            proposal,
            nodes=(*drafts, *(ended_node(node, now) for node in ended)),
            edges=(*edges, *(ended_edge(edge, now) for edge in ended_edges)),
        ),
        tuple(node.id for node in ended),
        tuple(withheld.values()),
    )


def _edges_between(
    proposal: Proposal, withheld: Collection[str], former: Former, ontology: Ontology
) -> Iterator[EdgeDraft]:
    """Yields the drafts of edges between nodes that are written. Edges of corrected nodes become edges of their
    replacements, if those can have them and the owner has not stated others instead."""
    in_place = former.in_place
    types = {draft.id: draft.type for draft in proposal.nodes} | {node.id: node.type for node in in_place.values()}
    places = {node_id: in_place[node_id].id for node_id in withheld if node_id in in_place}
    for draft in proposal.edges:
        source, target = places.get(draft.source, draft.source), places.get(draft.target, draft.target)
        if source in withheld or target in withheld:
            continue
        if (source, target) == (draft.source, draft.target):
            yield draft
        elif source != target and (source, draft.type) not in former.settled and source in types and target in types:
            known = ontology.edge_types.get(draft.type)
            if known is not None and known.allows(types[source], types[target]):
                yield msgspec.structs.replace(draft, source=source, target=target)


def without(
    proposal: Proposal, documents: Collection[str], nodes: Collection[Node], edges: Collection[Edge], now: str
) -> Proposal:
    """Returns the proposal that removes documents from a graph with these states.

    Statements that only these documents made end; those that others make too lose their places in these. Statements
    that the owner confirmed stay.
    """
    said = [node for node in nodes if _ends(node) and not documents_of(node.properties).isdisjoint(documents)]
    return msgspec.structs.replace(
        proposal,
        nodes=tuple(
            ended_node(node, now) if _is_over(node, documents) else _elsewhere(node, documents) for node in said
        ),
        edges=tuple(ended_edge(edge, now) for edge in _edges_of(nodes, edges) if _is_over(edge, documents)),
    )


def documents_in(nodes: Collection[Node], edges: Collection[Edge]) -> set[str]:
    """Returns the source documents of those of these states that `without` could end or change."""
    states: list[Node | Edge] = [*filter(_ends, nodes), *filter(is_live, _edges_of(nodes, edges))]
    return {name for state in states for name in documents_of(state.properties)}


def _edges_of(nodes: Iterable[Node], edges: Iterable[Edge]) -> list[Edge]:
    """Returns the edges from these nodes. Edges from the replacement of a node are the owner's, so they don't count."""
    ids = {node.id for node in nodes}
    return [edge for edge in edges if edge.source in ids]


def _key(edge: Edge | EdgeDraft) -> tuple[str, str, str]:
    return (edge.source, edge.type, edge.target)


def _ends(node: Node) -> bool:
    return is_live(node) and node.confirmed_as is None


def _elsewhere(node: Node, documents: Collection[str]) -> NodeDraft:
    """Returns the draft of a node without its places in these documents."""
    spans = [span for span in node.properties["spans"] if _document_of(span) not in documents]
    return msgspec.structs.replace(node_draft_of(node), properties=node.properties | {"spans": spans})


def _withheld(drafts: Iterable[NodeDraft], known: Mapping[str, Node]) -> Iterable[WithheldNode]:
    for draft in drafts:
        before = known.get(draft.id)
        if before is None:
            continue
        if before.erased:
            yield WithheldNode(draft.id, "forgotten")
        elif before.retracted:
            yield WithheldNode(draft.id, "corrected")
        elif before.type != draft.type:
            yield WithheldNode(draft.id, "other_type")


def _is_over(state: Node | Edge, documents: Collection[str]) -> bool:
    """Decides whether a state of an earlier build is in no text any more, because only these documents stated it."""
    said_in = documents_of(state.properties)
    return is_live(state) and bool(said_in) and said_in.issubset(documents)


def _again(draft: NodeDraft, before: Node | None, documents: Collection[str] | None, now: str) -> NodeDraft:
    """Returns a draft that keeps the node's places in documents other than these, and starts now if the node had
    ended."""
    if before is None:
        return draft
    if before.valid_to is not None and before.valid_to <= now and draft.valid_from is None and draft.valid_to is None:
        draft = msgspec.structs.replace(draft, valid_from=now)
    former = before.properties.get("spans", [])
    others = [span for span in former if documents is not None and _document_of(span) not in documents]
    if not others or "spans" not in draft.properties:
        return draft
    # sorted, so that builds of a few documents at a time do not push out one another's spans
    spans = sorted({*draft.properties["spans"], *others}, key=_place)[:MOST_SPANS]
    spans = former if sorted(former, key=_place) == spans else spans
    return msgspec.structs.replace(draft, properties=draft.properties | {"spans": spans})


def _edge_again(draft: EdgeDraft, before: Edge | None, now: str) -> EdgeDraft:
    ended = before is not None and before.valid_to is not None and before.valid_to <= now
    if ended and draft.valid_from is None and draft.valid_to is None:
        return msgspec.structs.replace(draft, valid_from=now)
    return draft


def _place(span: object) -> tuple[str, int]:
    start = str(span).rpartition(":")[2].partition("-")[0]
    return _document_of(span), int(start) if start.isdigit() else 0


def _document_of(span: object) -> str:
    return str(span).rpartition(":")[0]
