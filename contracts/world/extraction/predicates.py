"""Adds the edge of a subject, a predicate and an object, for statements of callers and for tables of statements."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from contracts.canonical import canonical_json
from contracts.world.extraction.findings import FALLBACK, Findings, FoundEdge, FoundNode, Part, Span
from contracts.world.extraction.successions import ALWAYS
from contracts.world.ontology import ACT_EDGES, SUPERSEDES
from contracts.world.proposal import LARGEST_PROPERTIES_BYTES, fault_of_properties

MOST_SAID = 50
"""Maximum number of sentences with other predicates that a subject stores as text, so that a search finds it."""


class End(NamedTuple):
    """One end of a statement in a document: its part, its name, and its node and type if these are known already."""

    part: Part
    name: str
    node: FoundNode | None = None
    type: str | None = None


class Stated(NamedTuple):
    """A statement of a document whose ends are resolved later. If that fails, `spelt` is the text of its passage."""

    subject: End
    predicate: str
    object: End
    properties: dict[str, Any]
    whole: Part
    within: FoundNode
    spelt: str | None


def type_name(predicate: str) -> str:
    """Returns a predicate in the spelling of edge types: "depends on" gives "DEPENDS_ON"."""
    return re.sub(r"[^A-Z0-9]+", "_", predicate.upper()).strip("_")


def is_implied(name: str) -> bool:
    """Decides whether edges of a type follow from facts and acts, and so can't be stated."""
    return name in ACT_EDGES or name == SUPERSEDES


def record_predicate(
    edge: FoundEdge, source: FoundNode, target: FoundNode, predicate: str, stated: dict[str, Any]
) -> None:
    """Adds a predicate that is not the type of its edge to the properties of a statement and to its subject's texts."""
    if not predicate or edge.type == type_name(predicate):
        return
    stated["predicate"] = predicate
    sentences = source.properties.setdefault("says", [])
    sentence = f"{predicate}: {target.title}"
    if isinstance(sentences, list) and len(sentences) < MOST_SAID and sentence not in sentences:
        sentences.append(sentence)


def tie_predicate(
    findings: Findings,
    source: FoundNode,
    target: FoundNode,
    predicate: str,
    properties: dict[str, Any],
    span: Span,
) -> bool:
    """Adds the edge of a document's statement. A predicate of the ontology is its type; any other becomes its property.

    Statements about the same two nodes and type share one edge. Returns False if the edge can't contain one more.
    """
    name = type_name(predicate)
    is_type = findings.has_edge_type(name) and not is_implied(name)
    edge = findings.state(source, target, name if is_type else FALLBACK, *ALWAYS, rule="triple", span=span)
    stated = dict(properties)
    record_predicate(edge, source, target, predicate, stated)
    if not edge.properties:
        edge.properties = stated
        return True
    return stated == edge.properties or _also(edge, stated)


def _also(edge: FoundEdge, more: dict[str, Any]) -> bool:
    """Stores another statement about the same two nodes and type, which share one edge of the graph."""
    also = edge.properties.get("also", [])
    size = edge.also_bytes or len(canonical_json(edge.properties | {"also": []}))
    if fault_of_properties({"also": [more]}):
        return False
    size += len(canonical_json(more)) + bool(also)
    if size > LARGEST_PROPERTIES_BYTES:
        return False
    edge.properties["also"] = [*also, more]
    edge.also_bytes = size
    return True
