"""Defines the HTTP form of nodes, edges and decisions."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from pydantic import AfterValidator, Field, StringConstraints

from contracts.base import Document
from contracts.standing import SourceClass
from contracts.times import normal_instant
from contracts.world.facts import MOST_CLAIMS, Dispute
from contracts.world.proposal import Decision, Verdict
from contracts.world.records import Author, Edge, Node, Origin, Visibility
from contracts.world.text import fault_of_title

Instant = Annotated[
    str,
    StringConstraints(max_length=40),
    AfterValidator(normal_instant),
    Field(json_schema_extra={"format": "date-time"}),
]
"""A time sent by a client: RFC 3339 with an offset, stored in the form of `contracts.times`."""


def one_line(text: str) -> str:
    """Returns `text`. Raises `ValueError` if it can't be a title."""
    if fault := fault_of_title(text, len(text)):
        raise ValueError(fault)
    return text


OneLine = AfterValidator(one_line)
"""Validates a client's text that becomes a title or a property, so that the error points to the client's own field."""


class OriginDocument(Document):
    """The first record of an imported state, in the installation that it came from."""

    recorded_at: str = Field(description="When it was recorded there (UTC); `recordedAt` is the time of the import")
    author: Author
    decision: str | None = Field(description="Id of the decision that wrote it there, as exports name it")


class NodeDocument(Document):
    """One state of a node."""

    id: str
    title: str
    type: str
    domain: str
    properties: dict[str, Any]
    visibility: Visibility
    owner: str | None = Field(description="Owner of a private node; null for public ones")
    immutable: bool
    valid_from: str = Field(description="From when it holds (UTC)")
    valid_to: str | None = Field(description="Until when it holds (UTC); null = until further notice")
    recorded_at: str = Field(description="When it was recorded (UTC)")
    source: str = Field(description="Where the statement comes from")
    actor: str = Field(description="Who wrote it")
    revision: int = Field(description="The graph's revision that wrote this state")
    erased: bool = Field(description="Whether its texts were deleted for the rights of a person")
    source_class: SourceClass = Field(description="Class of its source, at most the one that its writer may claim")
    stated_at: str | None = Field(
        description="When its statement was recorded (UTC); null in states older than this field"
    )
    stated_to: str | None = Field(description="The end that its writer stated, if another statement ended it")
    ended_by: str | None = Field(description="The node that superseded, overruled, corrected or retracted it")
    retracted: bool = Field(description="Whether it was corrected or retracted: as far as is known now, it never held")
    confirmed_as: SourceClass | None = Field(description="The class of its highest confirmation")
    confirmed_at: str | None
    disputed: bool = Field(description="Whether another value for its subject and predicate holds at the same time")
    origin: OriginDocument | None = Field(description="Where it was imported from; null for what was stated here")


_PLAIN: list[dict[str, Any]] = [
    {"type": "string"},
    {"type": "number"},
    {"type": "boolean"},
    {"type": "object", "additionalProperties": True},
]
_LIST = {"type": "array", "items": {"anyOf": _PLAIN}}
StatedValue = Annotated[Any, Field(json_schema_extra={"anyOf": [*_PLAIN, _LIST, {"type": "null"}]})]
"""The value of a fact: any JSON value. The types are listed because an empty schema is useless to clients."""


class ClaimDocument(Document):
    """One of several values that hold for a subject and predicate."""

    id: str = Field(description="The node that states it")
    title: str
    value: StatedValue
    source: str
    source_class: SourceClass = Field(description="Its class, or the class of its confirmation if that is higher")
    confidence: float | None
    valid_from: str


class DisputeDocument(Document):
    """The values of a disputed subject and predicate, highest standing first, then newest first."""

    subject: str
    predicate: str
    total: int = Field(description="How many claims hold")
    claims: list[ClaimDocument] = Field(description=f"The first {MOST_CLAIMS} of them")


class EdgeDocument(Document):
    """One state of an edge."""

    id: str
    source: str = Field(description="Id of the node where the edge begins")
    target: str = Field(description="Id of the node where it ends")
    type: str
    properties: dict[str, Any]
    visibility: Visibility
    owner: str | None = Field(description="Owner of a private edge; null for public ones")
    valid_from: str
    valid_to: str | None
    recorded_at: str
    stated_in: str = Field(description="Where the statement comes from")
    actor: str
    revision: int
    source_class: SourceClass
    disputed: bool = Field(description="Whether another edge of its single-valued type holds at the same time")
    origin: OriginDocument | None = Field(description="Where it was imported from; null for what was stated here")


class StageDocument(Document):
    """The result of one stage of the validator."""

    stage: str
    result: Literal["pass", "warn", "fail"]
    reason: str


class DecisionFields(Document):
    """The decision about a proposal, and the states that it wrote."""

    verdict: Verdict = Field(
        description="`approved`: written; `rejected`: nothing was written; `escalated`: waits until an operator "
        "agrees, or the owner, where a rule in the owner's graph requires it"
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
    return NodeDocument(**(msgspec.structs.asdict(node) | {"origin": _origin(node.origin)}))


def dispute_document(dispute: Dispute) -> DisputeDocument:
    """Returns a dispute as a document."""
    return DisputeDocument.model_validate(msgspec.structs.asdict(dispute), from_attributes=True)


def edge_document(edge: Edge) -> EdgeDocument:
    """Returns an edge as a document."""
    return EdgeDocument(**(msgspec.structs.asdict(edge) | {"origin": _origin(edge.origin)}))


def _origin(origin: Origin | None) -> OriginDocument | None:
    return None if origin is None else OriginDocument(**msgspec.structs.asdict(origin))
