"""Compares a built graph with what the ledger holds: what its documents no longer say ends, what was decided stays.

Example: an earlier build found the tasks "Paint" and "Sweep" in `notes.md`. The text now says only "Paint", so "Sweep"
ends now, with its edges. Had its owner confirmed "Sweep", or did `other.md` say it too, it would stay. Had its owner
corrected "Paint", it would not be written again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import msgspec

from contracts.world.change_set import node_draft_of
from contracts.world.extraction.findings import MOST_SPANS
from contracts.world.extraction.sources import documents_of
from contracts.world.ontology import Ontology
from contracts.world.proposal import EdgeDraft, NodeDraft, Proposal, ended_edge, ended_node
from contracts.world.records import Edge, Node, is_live


class WithheldNode(NamedTuple):
    """A node that is not written, and why."""

    id: str
    reason: Literal["corrected", "forgotten", "other_type"]


@dataclass(frozen=True)
class Rebuilt:
    """The proposal of a build, the nodes that it ends, and those that it leaves alone."""

    proposal: Proposal
    replaced: tuple[str, ...]
    withheld: tuple[WithheldNode, ...]


@dataclass(frozen=True)
class Former:
    """The content of the ledger: the known states of the proposal's nodes by id, and every state of the same graph.
    `moved` are the ids of nodes that stand in other documents by now than those that they were read from."""

    known: Mapping[str, Node]
    nodes: Collection[Node]
    edges: Collection[Edge]
    moved: Collection[str] = frozenset()


def rebuilt(proposal: Proposal, documents: Collection[str], former: Former, ontology: Ontology, now: str) -> Rebuilt:
    """Returns what a build writes. `documents` are those that it read; other documents of the graph keep what they
    said."""
    withheld = {node.id: node for node in _withheld(proposal.nodes, former.known)}
    drafts = [
        _again(draft, former.known.get(draft.id), None if draft.id in former.moved else documents, now)
        for draft in proposal.nodes
        if draft.id not in withheld
    ]
    edges = [draft for draft in proposal.edges if draft.source not in withheld and draft.target not in withheld]
    stated = {draft.id for draft in drafts} | withheld.keys() | set(former.moved)
    ended = [node for node in former.nodes if node.id not in stated and _ends(node) and _is_over(node, documents)]
    known_edges = {(edge.source, edge.type, edge.target): edge for edge in former.edges}
    stated_edges = {(draft.source, draft.type, draft.target) for draft in edges}
    single = {
        (draft.source, draft.type)
        for draft in edges
        if draft.type in ontology.edge_types and ontology.edge_types[draft.type].single_valued
    }  # the rule of standing ends what these replace
    ended_edges = [
        edge
        for key, edge in known_edges.items()
        if key not in stated_edges and (edge.source, edge.type) not in single and _is_over(edge, documents)
    ]
    edges = [_edge_again(draft, known_edges.get((draft.source, draft.type, draft.target)), now) for draft in edges]
    return Rebuilt(
        msgspec.structs.replace(
            proposal,
            nodes=(*drafts, *(ended_node(node, now) for node in ended)),
            edges=(*edges, *(ended_edge(edge, now) for edge in ended_edges)),
        ),
        tuple(node.id for node in ended),
        tuple(withheld.values()),
    )


def without(
    proposal: Proposal, documents: Collection[str], nodes: Collection[Node], edges: Collection[Edge], now: str
) -> Proposal:
    """Returns the proposal that takes documents out of a graph with these states: what only they said ends, and what
    others say too loses its places in them. What the owner confirmed stays."""
    said = [node for node in nodes if _ends(node) and not documents_of(node.properties).isdisjoint(documents)]
    return msgspec.structs.replace(
        proposal,
        nodes=tuple(
            ended_node(node, now) if _is_over(node, documents) else _elsewhere(node, documents) for node in said
        ),
        edges=tuple(ended_edge(edge, now) for edge in edges if _is_over(edge, documents)),
    )


def documents_in(nodes: Collection[Node], edges: Collection[Edge]) -> set[str]:
    """Returns the documents that said something of these states that `without` would end or change."""
    states: list[Node | Edge] = [*filter(_ends, nodes), *filter(is_live, edges)]
    return {name for state in states for name in documents_of(state.properties)}


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
    """Decides whether a state of an earlier build stands in no text any more: only these documents said it."""
    said_in = documents_of(state.properties)
    return is_live(state) and bool(said_in) and said_in.issubset(documents)


def _again(draft: NodeDraft, before: Node | None, documents: Collection[str] | None, now: str) -> NodeDraft:
    """Returns a draft that keeps what other documents say than these, if any do, and begins anew if the node had
    ended."""
    if before is None:
        return draft
    if before.valid_to is not None and before.valid_to <= now and draft.valid_from is None and draft.valid_to is None:
        draft = msgspec.structs.replace(draft, valid_from=now)
    former = before.properties.get("spans", [])
    others = [span for span in former if documents is not None and _document_of(span) not in documents]
    if not others or "spans" not in draft.properties:
        return draft
    # in one order, so that builds of some documents at a time do not push out one another's
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
