"""Defines the HTTP form of nodes, edges and decisions."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from pydantic import AfterValidator, Field, StringConstraints

from contracts.base import Document
from contracts.times import normal_instant
from contracts.world.proposal import Decision, Verdict
from contracts.world.records import Edge, Node, Visibility
from contracts.world.text import fault_of_title

Instant = Annotated[
    str,
    StringConstraints(max_length=40),
    AfterValidator(normal_instant),
    Field(json_schema_extra={"format": "date-time"}),
]
"""A time that a client sends: RFC 3339 with its offset, stored in the form of `contracts.times`."""


def _one_line(text: str) -> str:
    if fault := fault_of_title(text, len(text)):
        raise ValueError(fault)
    return text


OneLine = AfterValidator(_one_line)
"""Validates a client's text that becomes a title or a property, so that the error points to the client's own field."""


class NodeDocument(Document):
    """One state of a node."""

    id: str
    title: str
    type: str
    domain: str
    properties: dict[str, Any]
    visibility: Visibility
    owner: str | None = Field(description="Whose private node it is; null for public ones")
    immutable: bool
    valid_from: str = Field(description="From when it holds (UTC)")
    valid_to: str | None = Field(description="Until when it holds (UTC); null = until further notice")
    recorded_at: str = Field(description="When it was taken in (UTC)")
    source: str = Field(description="Where the statement comes from")
    actor: str = Field(description="Who wrote it")
    revision: int = Field(description="The graph's revision that wrote this state")
    erased: bool = Field(description="Whether its texts were deleted for the rights of a person")


class EdgeDocument(Document):
    """One state of an edge."""

    id: str
    source: str = Field(description="Id of the node that the edge goes out from")
    target: str = Field(description="Id of the node that it goes to")
    type: str
    properties: dict[str, Any]
    visibility: Visibility
    owner: str | None = Field(description="Whose private edge it is; null for public ones")
    valid_from: str
    valid_to: str | None
    recorded_at: str
    stated_in: str = Field(description="Where the statement comes from")
    actor: str
    revision: int


class StageDocument(Document):
    """The result of one stage of the validator."""

    stage: str
    result: Literal["pass", "warn", "fail"]
    reason: str


class DecisionFields(Document):
    """The decision about a proposal, and the states that it wrote."""

    verdict: Verdict = Field(
        description="`approved`: written; `rejected`: nothing was written; `escalated`: kept until an operator agrees"
    )
    decision: int = Field(description="Number of the audit's entry")
    stages: list[StageDocument] = Field(description="All seven, in their order")
    nodes: list[NodeDocument]
    edges: list[EdgeDocument]
    revision: int = Field(description="The graph's revision after it")


def decision_fields(decision: Decision) -> dict[str, Any]:
    """Returns the fields of `DecisionFields`, by their names in Python."""
    return {
        "verdict": decision.verdict,
        "decision": decision.seq,
        "stages": [StageDocument(**msgspec.structs.asdict(stage)) for stage in decision.stages],
        "nodes": [node_document(node) for node in decision.nodes],
        "edges": [edge_document(edge) for edge in decision.edges],
        "revision": decision.revision,
    }


def node_document(node: Node) -> NodeDocument:
    """Returns a node as a document."""
    return NodeDocument(**msgspec.structs.asdict(node))


def edge_document(edge: Edge) -> EdgeDocument:
    """Returns an edge as a document."""
    return EdgeDocument(**msgspec.structs.asdict(edge))
