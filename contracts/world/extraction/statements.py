"""Adds statements that need no reading: triples, and complete nodes and edges."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from contracts.base import Document
from contracts.errors import BodyInvalid
from contracts.world.extraction.findings import FALLBACK, Findings, FoundNode
from contracts.world.ontology import Ontology
from contracts.world.text import is_blank

STATED = "statements"
"""The scope of names in statements: the same name and type is the same node."""


def _visible(title: str) -> str:
    if is_blank(title):
        raise ValueError("is empty")
    return title


Title = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_visible)]


class Thing(Document):
    """One end of a triple."""

    title: Title
    type: str = Field(default="Concept", description="A node type of the schema")


class Triple(Document):
    """Subject, predicate, object. A predicate of the schema is the edge's type; any other becomes its property."""

    subject: Title | Thing
    predicate: str = Field(min_length=1, max_length=100)
    object: Title | Thing


class NodeStatement(Document):
    """A complete node. `id` names it within the request."""

    id: str = Field(min_length=1, max_length=200)
    title: Title
    type: str
    properties: dict[str, Any] = Field(default={})


class EdgeStatement(Document):
    """An edge between nodes of the request."""

    source: str
    target: str
    type: str


def read_statements(
    findings: Findings,
    ontology: Ontology,
    triples: Sequence[Triple],
    nodes: Sequence[NodeStatement],
    edges: Sequence[EdgeStatement],
) -> None:
    """Adds statements to the findings. Raises `BodyInvalid` for unknown types, ids and ends."""
    for number, triple in enumerate(triples):
        subject = _thing(findings, ontology, triple.subject, f"/triples/{number}/subject")
        target = _thing(findings, ontology, triple.object, f"/triples/{number}/object")
        if subject.id == target.id:
            raise _invalid(f"/triples/{number}/object", "is the subject itself")
        name = re.sub(r"[^A-Z0-9]+", "_", triple.predicate.upper()).strip("_")
        if name in ontology.edge_types:
            findings.tie(subject, target, name, None)
        else:
            findings.tie(subject, target, FALLBACK, None)
            subject.properties.setdefault("says", []).append(f"{triple.predicate}: {target.title}")
    known: dict[str, FoundNode] = {}
    for number, node in enumerate(nodes):
        _known_type(ontology, node.type, f"/nodes/{number}/type")
        if node.id in known:
            raise _invalid(f"/nodes/{number}/id", f"{node.id} comes twice")
        known[node.id] = findings.add(STATED, node.type, node.title, [])
        known[node.id].properties.update(node.properties)
    for number, edge in enumerate(edges):
        for field, end in (("source", edge.source), ("target", edge.target)):
            if end not in known:
                raise _invalid(f"/edges/{number}/{field}", f"no node of the request has the id {end}")
        if edge.type not in ontology.edge_types:
            raise _invalid(f"/edges/{number}/type", f"is none of {', '.join(sorted(ontology.edge_types))}")
        if edge.source == edge.target:
            raise _invalid(f"/edges/{number}/target", "is the source itself")
        source, target = known[edge.source], known[edge.target]
        if not ontology.edge_types[edge.type].allows(source.type, target.type):
            raise _invalid(f"/edges/{number}/type", f"{edge.type} does not go from {source.type} to {target.type}")
        findings.tie(source, target, edge.type, None)


def _thing(findings: Findings, ontology: Ontology, stated: str | Thing, pointer: str) -> FoundNode:
    thing = Thing(title=stated) if isinstance(stated, str) else stated
    _known_type(ontology, thing.type, f"{pointer}/type")
    return findings.refer(STATED, thing.type, thing.title, [])


def _known_type(ontology: Ontology, name: str, pointer: str) -> None:
    if name not in ontology.node_types:
        raise _invalid(pointer, f"is none of {', '.join(sorted(ontology.node_types))}")


def _invalid(pointer: str, fault: str) -> BodyInvalid:
    return BodyInvalid(f"{pointer}: {fault}", errors=[(pointer, fault)])
