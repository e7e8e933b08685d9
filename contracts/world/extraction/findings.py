"""Collects the nodes and edges found in documents, with spans and ids, and lists possible duplicates."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from contracts.errors import BodyInvalid
from contracts.world.extraction.successions import ALWAYS, Succession
from contracts.world.identity import content_id
from contracts.world.ontology import Ontology
from contracts.world.proposal import LONGEST_TITLE, MOST_EDGES, MOST_NODES

FALLBACK = "RELATED_TO"
LONGEST_TEXT = 2_000
"""Maximum length of a description or another text property. The span leads to the rest."""
MOST_SPANS = 20
"""Maximum number of spans per node: the first ones that mention it."""
_STOP_WORDS = frozenset(["a", "an", "and", "at", "by", "for", "in", "is", "of", "on", "or", "the", "to", "with"])


class Part(NamedTuple):
    """A part of one text as character offsets, with the end excluded."""

    start: int
    end: int

    def shifted(self, offset: int) -> Part:
        """Returns the part moved by an offset."""
        return Part(self.start + offset, self.end + offset)

    def trimmed(self, text: str, characters: str | None = None) -> Part:
        """Returns the part without white space, or without `characters`, at its ends."""
        inner = text[self.start : self.end]
        left = len(inner) - len(inner.lstrip(characters))
        return Part(self.start + left, self.start + left + len(inner.strip(characters)))


def is_within(parts: Sequence[Part], offset: int) -> bool:
    """Decides whether an offset is in one of `parts`, which are ordered and do not overlap."""
    before = bisect_right(parts, offset, key=lambda part: part.start)
    return before > 0 and offset < parts[before - 1].end


class Span(NamedTuple):
    """A part of one document of a request: `document` is its id."""

    document: str
    start: int
    end: int


@dataclass
class FoundNode:
    """One node with its properties and spans."""

    id: str
    type: str
    title: str
    rule: str
    """The rule of `rules.yaml` that found it."""
    properties: dict[str, Any] = field(default_factory=dict)
    spans: list[Span] = field(default_factory=list)
    valid_from: str | None = None
    valid_to: str | None = None


@dataclass
class FoundEdge:
    """One edge between two nodes, given by their ids, with the span that states it and the rule that found it."""

    source: str
    target: str
    type: str
    span: Span | None
    rule: str
    properties: dict[str, Any] = field(default_factory=dict)
    valid_from: str | None = None
    valid_to: str | None = None
    also_bytes: int = 0
    """The size of the properties as JSON, counted once there are several statements under `also`."""


@dataclass(frozen=True)
class Contradiction:
    """Two targets of a node by a single-valued type of edge at the same time: the one that was stated first is
    taken."""

    source: str
    type: str
    taken: str
    not_taken: str


@dataclass(frozen=True)
class Duplicate:
    """Two nodes that may be the same. Nothing is merged."""

    nodes: tuple[str, str]
    reason: Literal["same_title", "same_words", "handle_of_name"]


class Findings:
    """The nodes and edges of one request. The same input gives the same ids in the same order.

    A node comes from `add` or from `refer`. Two list items "Write tests" are two tasks: `add` numbers them, so that
    each has an id. Two mentions of "@ada" are one person: `refer` returns the same node for the same name.
    """

    def __init__(self, graph_id: str, ontology: Ontology, people: Iterable[str] = ()) -> None:
        """`people` are the names that other documents of the graph use as names of people."""
        self._graph_id = graph_id
        self.people_elsewhere = frozenset(people)
        self._only_elsewhere: set[str] = set()
        """The ids of the people whom their document only repeats from other documents."""
        self._ontology = ontology
        self._nodes: dict[str, FoundNode] = {}
        self._edges: dict[tuple[str, str, str], FoundEdge] = {}
        self._successions: dict[tuple[str, str], Succession] = {}
        self._numbers: dict[tuple[str, ...], int] = {}
        self._referred: dict[tuple[str, ...], FoundNode] = {}
        self._people: dict[str, list[FoundNode]] = {}
        self._contradictions: dict[Contradiction, None] = {}

    @property
    def nodes(self) -> list[FoundNode]:
        """Returns every node, in the order of discovery."""
        return list(self._nodes.values())

    @property
    def edges(self) -> list[FoundEdge]:
        """Returns every edge, in the order of discovery."""
        return list(self._edges.values())

    @property
    def contradictions(self) -> list[Contradiction]:
        """Returns every contradiction once, in the order of discovery."""
        return list(self._contradictions)

    @property
    def has_room_for_mentions(self) -> bool:
        """Decides whether edges from prose to the people whom it names still have room: half of all edges."""
        return len(self._edges) < MOST_EDGES // 2

    def add(self, rule: str, document: str, node_type: str, title: str, spans: Iterable[Span]) -> FoundNode:
        """Adds a new node, even if another one has its title. Raises `BodyInvalid` if there are too many."""
        name = clean_title(title)
        key = (document, node_type, name)
        number = self._numbers.get(key, 0)
        self._numbers[key] = number + 1
        node = self._new(added_id(self._graph_id, *key, number), node_type, name, rule)
        node.spans += spans
        return node

    def refer(
        self, rule: str, scope: str, node_type: str, title: str, spans: Iterable[Span], address: str = ""
    ) -> FoundNode:
        """Returns the node that a name or an address identifies within `scope`, adding it if it is new, and adds the
        spans."""
        name = clean_title(title)
        named = (scope, node_type, address or name.casefold())
        known = self._referred.get(named)
        if known is None:
            known = self._referred[named] = self._new(referred_id(self._graph_id, *named), node_type, name, rule)
            if node_type == "Person":
                self._people.setdefault(scope, []).append(known)
        self._only_elsewhere.discard(known.id)
        known.spans += [span for span in spans if len(known.spans) < MOST_SPANS and span not in known.spans]
        return known

    def refer_elsewhere(self, rule: str, document: str, name: str, span: Span) -> FoundNode:
        """Returns the node of a person in a document that is recognised because other documents name that person."""
        own = self.known(document, "Person", name)
        is_own = own is not None and own.id not in self._only_elsewhere
        person = self.refer(rule, document, "Person", name, [span])
        if not is_own:
            self._only_elsewhere.add(person.id)
        return person

    @property
    def people_named(self) -> frozenset[str]:
        """Returns the names of the people whom these documents themselves name as people."""
        people = (person for people in self._people.values() for person in people)
        return frozenset(
            person.title
            for person in people
            if person.id not in self._only_elsewhere and not person.title.startswith("@")
        )

    def tie(
        self, rule: str, source: FoundNode, target: FoundNode, edge_type: str, span: Span, label: str | None = None
    ) -> None:
        """Adds an edge, or one of the general type if the ontology does not allow this type here.

        It adds no edge from a node to itself. `label` is the text's word for the relation, stored so that a search for
        it finds both ends.
        """
        if source.id != target.id:
            name = self._fitting(source, target, edge_type, *ALWAYS)
            edge = FoundEdge(source.id, target.id, name, span, rule)
            edge = self._edges.setdefault((source.id, target.id, name), edge)
            if label is not None and edge.rule != "statement":
                edge.properties.setdefault("label", clean_title(label))

    def fits(self, source: FoundNode, target: FoundNode, edge_type: str) -> bool:
        """Decides whether the ontology allows an edge of this type between two nodes."""
        return self._ontology.edge_types[edge_type].allows(source.type, target.type)

    def has_edge_type(self, name: str) -> bool:
        """Decides whether the ontology has a type of edge."""
        return name in self._ontology.edge_types

    def state(
        self,
        source: FoundNode,
        target: FoundNode,
        edge_type: str,
        start: str,
        end: str | None,
        *,
        rule: str = "statement",
        span: Span | None = None,
    ) -> FoundEdge:
        """Returns the edge of a statement about the time from `start` to `end`, or one of the general type as in `tie`.
        Its ends must differ."""
        name = self._fitting(source, target, edge_type, start, end)
        edge = FoundEdge(source.id, target.id, name, span, rule)
        return self._edges.setdefault((source.id, target.id, name), edge)

    def named(self, node_id: str, node_type: str, title: str) -> FoundNode:
        """Adds the node of a statement. Its id must not be in use."""
        return self._new(node_id, node_type, clean_title(title), "statement")

    def _fitting(self, source: FoundNode, target: FoundNode, edge_type: str, start: str, end: str | None) -> str:
        """Returns the type, or the general one if the ontology does not allow the type here or, at this time, already
        another target."""
        allowed = self._ontology.edge_types[edge_type]
        if not allowed.allows(source.type, target.type):
            return FALLBACK
        if not allowed.single_valued:
            return edge_type
        succession = self._successions.setdefault((source.id, edge_type), Succession())
        taken = succession.take(target.id, start, end)
        if taken is None:
            return edge_type
        self._contradictions[Contradiction(source.id, edge_type, taken, target.id)] = None
        return FALLBACK

    def describe(self, node: FoundNode, name: str, value: str) -> bool:
        """Sets a text property of a node, unless it is set already, in the form that the ontology requires.

        A value without such a form is stored as text under another name. Returns whether the node now has this value.
        """
        for fitting in (value, value.lower(), int(value) if value.isdecimal() and len(value) < 16 else value):
            if not self._ontology.faults_of(node.type, {name: fitting}):
                return bool(node.properties.setdefault(name, fitting) == fitting)
        return bool(node.properties.setdefault(f"{name}_text", value) == value)

    def known(self, scope: str, node_type: str, name: str) -> FoundNode | None:
        """Returns the node that a name identifies within `scope`, or None."""
        return self._referred.get((scope, node_type, clean_title(name).casefold()))

    def people(self, scope: str) -> list[FoundNode]:
        """Returns the people who were referred to by name within `scope`."""
        return self._people.setdefault(scope, [])

    def _new(self, node_id: str, node_type: str, title: str, rule: str) -> FoundNode:
        if len(self._nodes) >= MOST_NODES:
            raise BodyInvalid(f"The request gives more than {MOST_NODES:,} nodes; send less at once.")
        node = self._nodes[node_id] = FoundNode(node_id, node_type, title, rule)
        return node


def added_id(graph: str, document: str, node_type: str, title: str, number: int) -> str:
    """Returns the id that `Findings.add` derives. `graph` names the graph with its owner."""
    return content_id("kg", graph, document, node_type, title, number)


def referred_id(graph: str, scope: str, node_type: str, name: str) -> str:
    """Returns the id that `Findings.refer` derives. `name` is an address or a name in lower case."""
    return content_id("kg", graph, scope, node_type, name)


def clean_title(text: str) -> str:
    """Returns a text as a title: one line of 1 to 300 allowed characters, or `…` if nothing is left."""
    cleaned = "".join(" " if char in "\t\r\n" else char for char in text if char in "\t\r\n" or _is_allowed(char))
    line = " ".join(cleaned.split()) or "…"
    return line if len(line) <= LONGEST_TITLE else line[: LONGEST_TITLE - 1].rstrip() + "…"


def clean_text(text: str) -> str:
    """Returns a text as a property, without the characters that no text of the graph may contain."""
    return "".join(char for char in text if char in "\t\r\n" or _is_allowed(char))


def _is_allowed(char: str) -> bool:
    return unicodedata.category(char) not in ("Cc", "Cs", "Cf", "Zl", "Zp")


def duplicates_among(nodes: Iterable[FoundNode]) -> list[Duplicate]:
    """Returns pairs of nodes of one type that may be the same.

    They have the same title, the same words in another order or case, or one is a handle of the other's name. Each node
    is paired with the first one like it, so n similar nodes give n - 1 pairs.
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
