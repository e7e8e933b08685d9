"""Validates requests of `knowledge-graph/build` and builds their graphs.

The same input gives the same output: nothing here uses a clock or a random number.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from contracts.base import Document, Listed
from contracts.canonical import canonical_sha256
from contracts.errors import BodyInvalid
from contracts.world.extraction.appointments import is_calendar, read_calendar
from contracts.world.extraction.document_reading import Reading
from contracts.world.extraction.findings import Findings, FoundEdge, FoundNode, Part, Span, duplicates_among
from contracts.world.extraction.objects import read_objects, read_yaml
from contracts.world.extraction.prose import read_prose
from contracts.world.extraction.references import resolve_references
from contracts.world.extraction.rules import Form
from contracts.world.extraction.sources import source_of
from contracts.world.extraction.statements import (
    STATED,
    StatedEdge,
    StatedNode,
    StatedTriple,
    StatementRefusal,
    read_statements,
)
from contracts.world.extraction.tables import DELIMITERS, read_delimited
from contracts.world.extraction.vocabulary import load_vocabulary
from contracts.world.extraction.yaml_texts import yaml_in
from contracts.world.graph_documents import OneLine, StageDocument
from contracts.world.identity import content_id, own_id
from contracts.world.ontology import Ontology, load_ontology
from contracts.world.proposal import MOST_EDGES, MOST_NODES, Actor, EdgeDraft, NodeDraft, Proposal, Verdict
from contracts.world.records import Visibility

DEEPEST_JSON = 64
MOST_PIECES = 50_000
"""Maximum of lines (each counts twice), cells, values, names and links in all texts together: about half a second of
work."""
MOST_UNREAD = 50
"""Maximum number of parts that `notUnderstood` lists."""

MediaType = Literal["text/markdown", "text/plain", "application/json", "text/csv"]
GraphId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
DocumentId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/@#-]{0,127}$")]


class SourceDocument(Document):
    """One text to read. `url` only names its origin; the service never fetches it."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                {"required": ["text"], "properties": {"text": {"type": "string"}}},
                {"required": ["markdown"], "properties": {"markdown": {"type": "string"}}},
            ]
        }
    )

    id: DocumentId | None = Field(default=None, description="Its name in spans; default `document-<n>`")
    title: str | None = Field(default=None, min_length=1, max_length=300)
    text: str | None = Field(default=None, description="The text, in the form that `mediaType` names")
    markdown: str | None = Field(default=None, description="The text, as Markdown; instead of `text`")
    url: Annotated[str, OneLine] | None = Field(
        default=None, max_length=2000, description="Where the text is from; never fetched"
    )
    media_type: MediaType = Field(default="text/plain", description="The form of `text`")

    @property
    def content(self) -> str:
        """Returns the text, whichever field contains it."""
        return self.markdown or self.text or ""

    @property
    def kind(self) -> MediaType:
        """Returns the media type of the text."""
        return self.media_type if self.markdown is None else "text/markdown"

    @model_validator(mode="after")
    def _has_one_text(self) -> SourceDocument:
        if (self.text is None) == (self.markdown is None):
            raise ValueError("send the document's content as either `text` or `markdown`; URLs are never fetched")
        return self


class BuildRequest(Document):
    """Documents, or statements that need no reading; at least one of them."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {"required": [name], "properties": {name: {"minItems": 1}}}
                for name in ("documents", "triples", "nodes")
            ]
        }
    )

    graph_id: GraphId | None = Field(default=None, description="Its name; default a hash of the content")
    documents: Listed[SourceDocument] = Field(default=[], max_length=100)
    triples: list[StatedTriple] = Field(default=[], max_length=MOST_NODES)
    nodes: list[StatedNode] = Field(default=[], max_length=MOST_NODES)
    edges: list[StatedEdge] = Field(default=[], max_length=MOST_EDGES)
    mode: Literal["preview", "apply"] = "preview"
    visibility: Visibility = Field(
        default="private", description="Visibility of what `apply` writes; `public` waits for an operator"
    )

    @model_validator(mode="after")
    def _is_not_empty(self) -> BuildRequest:
        if not (self.documents or self.triples or self.nodes):
            raise ValueError("send `documents`, `triples` or `nodes`")
        return self


class TextSpan(Document):
    """The position of a statement in a document: offsets in characters, `end` excluded, and the text between them."""

    document: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    text: str = Field(description="At most 300 characters of it")


class BuiltNode(Document):
    """A node with every span that mentions it."""

    id: str
    title: str
    type: str
    domain: str
    properties: dict[str, Any]
    spans: list[TextSpan]
    rule: str = Field(description="The rule that found it (`forms` of a preview); `statement` for the caller's own")
    valid_from: str | None = Field(description="As stated; null if nothing was")
    valid_to: str | None = Field(description="As stated; null if nothing was")


class BuiltEdge(Document):
    """An edge with its span. An edge from a statement has none."""

    source: str
    target: str
    type: str
    properties: dict[str, Any]
    spans: list[TextSpan]
    rule: str
    valid_from: str | None
    valid_to: str | None


class PossibleDuplicate(Document):
    """Two nodes that may be the same. Nothing is merged."""

    nodes: list[str] = Field(min_length=2, max_length=2, description="Node ids; the second may be in the live graph")
    reason: Literal["same_title", "same_words", "handle_of_name", "in_live_graph"]


class ContradictingEdge(Document):
    """Two targets of a node, at the same time, by an edge type that allows one at a time. The request doesn't say which
    of them holds. An edge without `validTo` holds until further notice."""

    source: str
    type: str
    taken: str = Field(description="The target that was stated first")
    not_taken: str = Field(description="The target that was stated later: its edge is RELATED_TO")


class UnreadPart(Document):
    """A part of a text in which no form states anything: stored as a passage, or not at all."""

    document: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    text: str = Field(description="At most 100 characters of it")
    kept: bool = Field(description="Whether a passage contains it; code and comments are not stored")


class NotUnderstood(Document):
    """The parts of the texts in which the rules found nothing. Passages are searchable nevertheless."""

    passages: int = Field(description="How many passages state nothing in any form")
    passage_characters: int
    left_out: int = Field(description="How many parts are in no node and no property")
    left_out_characters: int
    parts: list[UnreadPart] = Field(description=f"The first {MOST_UNREAD} parts of both kinds, in text order")


class BuiltGraph(Document):
    """The graph of a request."""

    graph_id: str
    nodes: list[BuiltNode]
    edges: list[BuiltEdge]
    duplicates: list[PossibleDuplicate]
    contradictions: list[ContradictingEdge]
    refused: list[StatementRefusal] = Field(
        description="Triples, nodes and edges that were refused; all others were accepted"
    )
    not_understood: NotUnderstood


class Withheld(Document):
    """A node that is not written."""

    id: str
    reason: Literal["corrected", "forgotten", "other_type"] = Field(
        description="Its owner corrected or retracted it; it was erased; or a node of another type has its id"
    )


class BuildResult(BuiltGraph):
    """The graph of a request, with the decision if it was applied."""

    mode: Literal["preview", "apply"]
    forms: list[Form] = Field(description="The forms that are understood; empty unless it is a preview")
    replaced: list[str] = Field(
        description="Nodes that these documents stated in an earlier build of this graph and no longer state: ended"
    )
    withheld: list[Withheld] = Field(
        description="Nodes that are not written, nor are their edges; those of a corrected node are written as edges "
        "of its replacement"
    )
    verdict: Verdict | None = Field(description="The validator's verdict; null for a preview")
    stages: list[StageDocument] = Field(description="The results of its stages; empty for a preview")
    revision: int = Field(description="The graph's revision, after the write if there was one")


class BuildAnswer(Document):
    """The envelope of a built graph."""

    ok: Literal[True] = True
    data: BuildResult


def build_graph(
    request: BuildRequest, owner: str, now: datetime, ontology: Ontology | None = None, people: Iterable[str] = ()
) -> BuiltGraph:
    """Returns the graph of a request (see `read_graph`)."""
    graph, _ = read_graph(request, owner, now, ontology, people)
    return graph


def read_graph(
    request: BuildRequest, owner: str, now: datetime, ontology: Ontology | None = None, people: Iterable[str] = ()
) -> tuple[BuiltGraph, frozenset[str]]:
    """Returns the graph of a request, and the names of the people whom its own documents name as people.

    The ids belong to the owner. `now` only bounds the times of statements. `people` are names from other documents of
    the graph, which are recognised as people in these too. `ontology` is the owner's, by default the service's; a
    public graph uses only the service's words.

    Raises `BodyInvalid` if a document is not of its media type, or if the request is too large.
    """
    if sum(map(_pieces, request.documents)) > MOST_PIECES:
        raise BodyInvalid(
            f"The texts have more than {MOST_PIECES:,} lines, cells, values, names and links; send less at once.",
            errors=[("/documents", f"at most {MOST_PIECES:,} lines, cells, values, names and links")],
        )
    ontology = (ontology or load_ontology()).part_of(owner if request.visibility == "private" else None)
    vocabulary = load_vocabulary().with_words_of(ontology)
    graph_id = request.graph_id or f"graph-{_content_hash(request)[:16]}"
    findings = Findings(f"{owner}/{graph_id}", ontology, people)
    texts: dict[str, str] = {}
    readings: list[Reading] = []
    for number, document in enumerate(request.documents):
        name = document.id or f"document-{number + 1}"
        if name in texts:
            raise BodyInvalid(f"Two documents are called {name}.", errors=[(f"/documents/{number}/id", "is taken")])
        texts[name] = document.content
        reading = Reading(
            findings,
            vocabulary,
            name,
            texts[name],
            has_marks=document.kind != "application/json",
            has_comments=document.kind in ("text/markdown", "text/plain"),
        )
        _read(reading, document, number)
        resolve_references(reading)
        readings.append(reading)
        if document.url is not None:
            reading.root.properties["url"] = document.url

    def stored_id(given: str) -> str:
        if request.visibility == "private":
            return own_id(owner, given)
        return content_id("kg", f"{owner}/{graph_id}", STATED, given)

    refused = read_statements(findings, ontology, request.triples, request.nodes, request.edges, stored_id, now)
    if refused and not findings.nodes:
        raise BodyInvalid(
            "None of the statements can be accepted.", errors=[(each.pointer, each.reason) for each in refused]
        )
    nodes, edges = findings.nodes, findings.edges
    if len(edges) > MOST_EDGES:
        raise BodyInvalid(f"The request gives more than {MOST_EDGES:,} edges; send less at once.")
    graph = BuiltGraph(
        graph_id=graph_id,
        nodes=[_built_node(node, ontology.node_types[node.type].domain, texts) for node in nodes],
        edges=[_built_edge(edge, texts) for edge in edges],
        duplicates=[
            PossibleDuplicate(nodes=list(duplicate.nodes), reason=duplicate.reason)
            for duplicate in duplicates_among(nodes)
        ],
        contradictions=[ContradictingEdge(**vars(edge)) for edge in findings.contradictions],
        refused=refused,
        not_understood=_not_understood(readings, nodes, edges),
    )
    return graph, findings.people_named


def _not_understood(
    readings: Sequence[Reading], nodes: Sequence[FoundNode], edges: Sequence[FoundEdge]
) -> NotUnderstood:
    stating = {edge.source for edge in edges if edge.type != "PART_OF"}
    stating |= {edge.target for edge in edges if edge.rule in ("decided", "depends_on")}
    passages = [node for node in nodes if node.type == "Passage" and node.spans]
    kept = [node.spans[0] for node in passages if node.id not in stating]
    left_out = [Span(reading.document, *part) for reading in readings for part in reading.left_out()]
    order = {reading.document: number for number, reading in enumerate(readings)}
    texts = {reading.document: reading.given for reading in readings}
    parts = sorted(
        [*((span, True) for span in kept), *((span, False) for span in left_out)],
        key=lambda each: (order[each[0].document], each[0].start),
    )
    return NotUnderstood(
        passages=len(kept),
        passage_characters=sum(span.end - span.start for span in kept),
        left_out=len(left_out),
        left_out_characters=sum(span.end - span.start for span in left_out),
        parts=[
            UnreadPart(
                document=span.document,
                start=span.start,
                end=span.end,
                text=texts[span.document][span.start : min(span.end, span.start + 100)],
                kept=is_kept,
            )
            for span, is_kept in parts[:MOST_UNREAD]
        ],
    )


def graph_proposal(graph: BuiltGraph, actor: Actor, visibility: Visibility) -> Proposal:
    """Returns a graph as a proposal of its owner. Nodes and edges keep the spans of their text, and their rule.

    Documents and passages come last, in text order, so that adjacent passages are neighbours in a search.
    """
    ordered = sorted(graph.nodes, key=lambda node: node.type in ("Document", "Passage"))
    return Proposal(
        actor=actor,
        source=source_of(graph.graph_id),
        nodes=tuple(
            NodeDraft(
                id=node.id,
                type=node.type,
                title=node.title,
                properties=node.properties | _origin(node),
                visibility=visibility,
                valid_from=node.valid_from,
                valid_to=node.valid_to,
            )
            for node in ordered
        ),
        edges=tuple(
            EdgeDraft(
                source=edge.source,
                target=edge.target,
                type=edge.type,
                properties=edge.properties | _origin(edge),
                visibility=visibility,
                valid_from=edge.valid_from,
                valid_to=edge.valid_to,
            )
            for edge in graph.edges
        ),
    )


def _origin(found: BuiltNode | BuiltEdge) -> dict[str, Any]:
    if not found.spans:
        return {}
    return {"spans": [f"{span.document}:{span.start}-{span.end}" for span in found.spans], "rule": found.rule}


_LINES, _PROSE = {"\n": 2, "\r": 2}, dict.fromkeys(("|", "[", "@", "://", ",", ";", "&"), 1)
_MARKS: dict[MediaType, dict[str, int]] = {
    "text/markdown": _LINES | _PROSE,
    "text/plain": _LINES | _PROSE,
    "application/json": dict.fromkeys((",", ":", "["), 1),
    "text/csv": _LINES | dict.fromkeys(DELIMITERS, 1),
}
"""Marks at which another part of a text may begin, with the cost of reading that part.

A line costs double, because it may be a statement.
"""


def _pieces(document: SourceDocument) -> int:
    """Returns an upper bound of the parts that reading a text can give, without reading it."""
    return 1 + sum(weight * document.content.count(mark) for mark, weight in _MARKS[document.kind].items())


def _content_hash(request: BuildRequest) -> str:
    content = request.model_dump(mode="json", exclude={"mode", "visibility", "graph_id"}, warnings=False)
    try:
        return canonical_sha256(content)
    except ValueError:  # also raised for values without a canonical form
        raise BodyInvalid(
            "A property contains a number that JSON can't represent exactly: integers go up to 2^53 - 1.",
            errors=[("/nodes", "contains a number that JSON can't represent exactly")],
        ) from None


def _read(reading: Reading, document: SourceDocument, number: int) -> None:
    whole, has_headings = Part(0, len(reading.text)), document.kind == "text/markdown"
    match document.kind:
        case "application/json":
            read_objects(reading, _json(reading.text, number), document.title)
        case "text/csv":
            read_delimited(reading, document.title)
        case _ if is_calendar(reading.text):
            read_calendar(reading, document.title)
        case _ if (documents := yaml_in(reading.text, whole, has_headings=has_headings)) is not None:
            read_yaml(reading, documents, document.title)
        case _:
            read_prose(reading, document.title)


def _json(text: str, number: int) -> Any:
    pointer = f"/documents/{number}/text"
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_float=_float, parse_constant=_float)
    except (ValueError, RecursionError) as error:
        raise BodyInvalid(f"{pointer} is not JSON.", errors=[(pointer, str(error)[:200])]) from None
    if _depth(value) > DEEPEST_JSON:
        raise BodyInvalid(f"{pointer} is too deep.", errors=[(pointer, f"at most {DEEPEST_JSON} levels")])
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("an object has the same key twice")
    return dict(pairs)


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:20]} is not a number that JSON can represent")
    return number


def _depth(value: Any) -> int:
    level, depth = [value], 0
    while level := [container for container in level if isinstance(container, dict | list)]:
        level = [
            inner for container in level for inner in (container.values() if isinstance(container, dict) else container)
        ]
        depth += 1
    return depth


def _built_node(node: FoundNode, domain: str, texts: dict[str, str]) -> BuiltNode:
    return BuiltNode(
        id=node.id,
        title=node.title,
        type=node.type,
        domain=domain,
        properties=node.properties,
        spans=_spans(node.spans, texts),
        rule=node.rule,
        valid_from=node.valid_from,
        valid_to=node.valid_to,
    )


def _built_edge(edge: FoundEdge, texts: dict[str, str]) -> BuiltEdge:
    spans = [] if edge.span is None else [edge.span]
    return BuiltEdge(
        source=edge.source,
        target=edge.target,
        type=edge.type,
        properties=edge.properties,
        spans=_spans(spans, texts),
        rule=edge.rule,
        valid_from=edge.valid_from,
        valid_to=edge.valid_to,
    )


def _spans(spans: Iterable[Span], texts: dict[str, str]) -> list[TextSpan]:
    return [
        TextSpan(
            document=span.document,
            start=span.start,
            end=span.end,
            text=texts[span.document][span.start : min(span.end, span.start + 300)],
        )
        for span in spans
    ]
