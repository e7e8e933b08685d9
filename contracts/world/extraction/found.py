"""What is found in documents: nodes and edges with their spans, their ids, and which nodes may be one and the same."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from contracts.errors import BodyInvalid
from contracts.world.identity import content_id
from contracts.world.ontology import Ontology
from contracts.world.proposal import LONGEST_TITLE, MOST_NODES

FALLBACK = "RELATED_TO"
MOST_SPANS = 20
"""Of one node: the first places that speak of it."""
_STOP_WORDS = frozenset(["a", "an", "and", "at", "by", "for", "in", "is", "of", "on", "or", "the", "to", "with"])


class Part(NamedTuple):
    """A stretch of one text: offsets in characters, the end not included."""

    start: int
    end: int

    def trimmed(self, text: str, characters: str | None = None) -> Part:
        """The part without white space, or without `characters`, at its ends."""
        inner = text[self.start : self.end]
        left = len(inner) - len(inner.lstrip(characters))
        return Part(self.start + left, self.start + left + len(inner.strip(characters)))


class Span(NamedTuple):
    """A stretch of one document of a request: `document` is its id."""

    document: str
    start: int
    end: int


@dataclass
class FoundNode:
    """One node. `identity` is what it is told apart by: a place in a document, or an address that many places share."""

    id: str
    type: str
    title: str
    properties: dict[str, Any] = field(default_factory=dict)
    spans: list[Span] = field(default_factory=list)


class FoundEdge(NamedTuple):
    """One edge between found nodes, by their ids, with the span that says so."""

    source: str
    target: str
    type: str
    span: Span | None


@dataclass(frozen=True)
class Duplicate:
    """Two nodes that may be one: nothing is merged."""

    nodes: tuple[str, str]
    reason: Literal["same_title", "same_words", "handle_of_name"]


class Findings:
    """What is found in the documents of one request. The same input gives the same ids in the same order."""

    def __init__(self, graph_id: str, ontology: Ontology) -> None:
        self._graph_id = graph_id
        self._ontology = ontology
        self._nodes: dict[str, FoundNode] = {}
        self._edges: dict[tuple[str, str, str], FoundEdge] = {}
        self._single: dict[tuple[str, str], str] = {}
        self._told_apart: dict[tuple[str, ...], int] = {}
        self._referred: dict[tuple[str, ...], FoundNode] = {}

    @property
    def nodes(self) -> list[FoundNode]:
        """Every node, in the order of its finding."""
        return list(self._nodes.values())

    @property
    def edges(self) -> list[FoundEdge]:
        """Every edge, in the order of its finding."""
        return list(self._edges.values())

    def add(self, document: str, node_type: str, title: str, spans: Iterable[Span]) -> FoundNode:
        """A node of its own, whatever else has its title. Raises `BodyInvalid` where there are too many."""
        name = clean_title(title)
        told_apart = (document, node_type, name)
        number = self._told_apart.get(told_apart, 0)
        self._told_apart[told_apart] = number + 1
        node = self._new(content_id("kg", self._graph_id, *told_apart, number), node_type, name)
        node.spans += spans
        return node

    def refer(self, scope: str, node_type: str, title: str, spans: Iterable[Span], address: str = "") -> FoundNode:
        """The node that a name, or an address, stands for within `scope`: the same one at every place."""
        name = clean_title(title)
        named = (scope, node_type, address or name.casefold())
        known = self._referred.get(named)
        if known is None:
            known = self._referred[named] = self._new(content_id("kg", self._graph_id, *named), node_type, name)
        known.spans += [span for span in spans if len(known.spans) < MOST_SPANS and span not in known.spans]
        return known

    def tie(self, source: FoundNode, target: FoundNode, edge_type: str, span: Span | None) -> None:
        """An edge, or the general one where this type may not join these two; none from a node to itself."""
        if source.id == target.id:
            return
        allowed = self._ontology.edge_types[edge_type]
        fits = allowed.allows(source.type, target.type)
        if allowed.single_valued and fits:
            fits = self._single.setdefault((source.id, edge_type), target.id) == target.id
        name = edge_type if fits else FALLBACK
        self._edges.setdefault((source.id, target.id, name), FoundEdge(source.id, target.id, name, span))

    def _new(self, node_id: str, node_type: str, title: str) -> FoundNode:
        if len(self._nodes) >= MOST_NODES:
            raise BodyInvalid(f"This gives more than {MOST_NODES:,} nodes; send less at once.")
        node = self._nodes[node_id] = FoundNode(node_id, node_type, title)
        return node


def clean_title(text: str) -> str:
    """A text as a title: one line of 1 to 300 characters, without what no title may hold; `…` where nothing is left."""
    kept = "".join(" " if char in "\t\r\n" else char for char in text if char in "\t\r\n" or _may_stand(char))
    line = " ".join(kept.split()) or "…"
    return line if len(line) <= LONGEST_TITLE else line[: LONGEST_TITLE - 1].rstrip() + "…"


def clean_text(text: str) -> str:
    """A text as a property: what no text of the graph may hold is left out."""
    return "".join(char for char in text if char in "\t\r\n" or _may_stand(char))


def _may_stand(char: str) -> bool:
    return unicodedata.category(char) not in ("Cc", "Cs", "Cf", "Zl", "Zp")


def duplicates_among(nodes: Iterable[FoundNode]) -> list[Duplicate]:
    """Pairs of one type that may be one: same title, same words in another order or case, a handle of a name.

    Each node is paired with the first like it, so that n alike give n - 1 pairs.
    """
    pairs: dict[tuple[str, str], Duplicate] = {}
    first: dict[tuple[str, str, str], str] = {}
    for node in nodes:
        for reason, likeness in _likenesses(node):
            known = first.setdefault((reason, node.type, likeness), node.id)
            if known != node.id:
                pairs.setdefault((known, node.id), Duplicate((known, node.id), reason))
    return [*pairs.values(), *_handles_of_names(nodes)]


def _likenesses(node: FoundNode) -> Iterable[tuple[Literal["same_title", "same_words"], str]]:
    plain = " ".join(unicodedata.normalize("NFKC", node.title).casefold().split())
    yield "same_title", plain
    if words := sorted({word for word in re.findall(r"\w+", plain) if word not in _STOP_WORDS}):
        yield "same_words", " ".join(words)


def _handles_of_names(nodes: Iterable[FoundNode]) -> Iterable[Duplicate]:
    people = [node for node in nodes if node.type == "Person"]
    handles = {str(node.properties["handle"]).casefold(): node.id for node in people if "handle" in node.properties}
    for node in people:
        words = re.findall(r"\w+", node.title.casefold())
        if "handle" not in node.properties and words:
            for name in dict.fromkeys((words[0], "".join(words))):
                if name in handles:
                    yield Duplicate((handles[name], node.id), "handle_of_name")
                    break
