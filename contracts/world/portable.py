"""Defines the records of an exported graph and their canonical bytes, and converts states to records and back. Pure.

An export is JSON Lines: a header, the owner's words, the records of nodes and of edges, and an end record that counts
the lines. The states of a node or an edge are consecutive, oldest first, and only the last of them is `current`. A
decision precedes the first of the adjacent states that it wrote. Nothing depends on the installation: nodes have the
ids that their owner gave them, people are not named, and revisions are left out. So a graph that is imported for an
owner without nodes is exported again as the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from contracts.standing import UNSTATED, SourceClass
from contracts.world.identity import given_id
from contracts.world.proposal import StageResult, Verdict
from contracts.world.records import PARTS_OF_THE_SERVICE, Author, Edge, Node, Origin

FORMAT = "svc.world.graph"
VERSION = 1
GONE = "gone"
"""Replaces the id of a node that the owner no longer has: it was forgotten, or belongs to somebody else."""

Scope = Literal["owner", "public"]
AuthorKind = Literal["caller", "capsule", "claimant", "pipeline", "intake", "constitution", "operator"]


class Header(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename="camel",
    forbid_unknown_fields=True,
    tag_field="kind",
    tag="header",
):
    """The first line."""

    format: str = FORMAT
    version: int = VERSION
    scope: Scope = "owner"


class OntologyRecord(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename="camel",
    forbid_unknown_fields=True,
    tag_field="kind",
    tag="ontology",
):
    """The words that the owner added to the service's ontology; the states are judged by both."""

    words: dict[str, Any]
    """In the form of `OwnOntology`."""
    former: dict[str, Any] | None = None
    """The words including those of earlier versions, which ended states may still use; null if there are no others."""


class DecisionRecord(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename="camel",
    forbid_unknown_fields=True,
    tag_field="kind",
    tag="decision",
):
    """A decision that wrote states. Its id is its commitment in the audit chain of the installation that decided."""

    id: str
    decided_at: str
    verdict: Verdict
    author: AuthorKind | None = None
    """Null if the content of the decision was forgotten or belongs to others."""
    stages: list[StageResult] | None = None


class NodeRecord(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, tag_field="kind", tag="node"
):
    """One state of a node. Records that other programs write need only an id, a type, a title and a source."""

    id: str
    type: str
    title: str
    source: str
    domain: str | None = None
    properties: dict[str, Any] = {}
    current: bool = True
    immutable: bool = False
    valid_from: str | None = None
    """Null: from the time of the import."""
    valid_to: str | None = None
    recorded_at: str | None = None
    """Null: it was not recorded anywhere before the import."""
    author: Author = "owner"
    source_class: SourceClass = UNSTATED
    stated_at: str | None = None
    stated_to: str | None = None
    ended_by: str | None = None
    retracted: bool = False
    confirmed_as: SourceClass | None = None
    confirmed_at: str | None = None
    disputed: bool = False
    decision: str | None = None


class EdgeRecord(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, tag_field="kind", tag="edge"
):
    """One state of an edge; source, target and type identify it."""

    source: str
    target: str
    type: str
    stated_in: str
    properties: dict[str, Any] = {}
    current: bool = True
    valid_from: str | None = None
    valid_to: str | None = None
    recorded_at: str | None = None
    author: Author = "owner"
    source_class: SourceClass = UNSTATED
    disputed: bool = False
    decision: str | None = None


class EndRecord(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, tag_field="kind", tag="end"
):
    """The last line. A file without it was cut off."""

    lines: int
    """The number of lines before this one."""


Record = Header | OntologyRecord | DecisionRecord | NodeRecord | EdgeRecord | EndRecord
StateRecord = NodeRecord | EdgeRecord

_encode = msgspec.json.Encoder(order="sorted").encode


class CountedEdge(msgspec.Struct, frozen=True, gc=False, tag_field="kind", tag="edge"):
    """A state of an edge, decoded only as far as whether it is current."""

    current: bool = True


RecordDecoder = msgspec.json.Decoder[Record] | msgspec.json.Decoder[Record | CountedEdge]

WHOLE: msgspec.json.Decoder[Record] = msgspec.json.Decoder(Record)
"""Reads every field of a record."""

COUNTING_EDGES: msgspec.json.Decoder[Record | CountedEdge] = msgspec.json.Decoder(
    Header | OntologyRecord | DecisionRecord | NodeRecord | CountedEdge | EndRecord
)
"""Reads only whether a state is current from edge records, which takes a third of the time."""

_mark = msgspec.json.Decoder(dict[str, Any]).decode


def line_of(record: Record) -> bytes:
    """Encodes a record as one line, with its line break."""
    return _encode(record) + b"\n"


def record_of(line: bytes, decoder: RecordDecoder = WHOLE) -> Record | CountedEdge:
    """Parses a line. Raises `ValueError` (which msgspec's errors inherit from) with the reason."""
    return decoder.decode(line)


def records_of(lines: Sequence[bytes], decoder: RecordDecoder) -> Sequence[Record | CountedEdge] | None:
    """Parses many lines at once. Returns None unless each line is exactly one record."""
    # a record can't continue on a line that begins with a brace: if the counts are equal, each line is one record
    if not all(line[:1] == b"{" and line[-2:] == b"}\n" for line in lines):
        return None
    try:
        records = decoder.decode_lines(b"".join(lines))
    except (ValueError, RecursionError):
        return None
    return records if len(records) == len(lines) else None


def is_other_version(line: bytes) -> bool:
    """Decides whether a first line is a header of this format with an unknown version."""
    try:
        fields = _mark(line)
    except ValueError:
        return False
    return fields.get("format") == FORMAT and fields.get("version") != VERSION


def author_of(actor: str, owner: str | None) -> Author:
    """Returns the author of a state of `owner`, as exports name it."""
    if actor == owner:
        return "owner"
    if actor in PARTS_OF_THE_SERVICE:
        return actor  # type: ignore[return-value]
    return "operator" if actor.startswith("operator:") else "other"


@dataclass(frozen=True)
class Exported:
    """The context of an exported state: its owner, whose ids it uses, and the decision that wrote it."""

    owner: str | None
    decision: str
    current: bool
    ended_by: str | None = None
    """The stored id of the node that ended it, or `GONE`."""

    def called(self, node_id: str) -> str:
        """Returns the id that the owner uses for a node."""
        return node_id if self.owner is None else given_id(self.owner, node_id)


def node_record(node: Node, about: Exported) -> NodeRecord:
    """Returns the record of a node's state."""
    recorded_at = node.recorded_at if node.origin is None else node.origin.recorded_at
    return NodeRecord(
        id=about.called(node.id),
        type=node.type,
        title=node.title,
        source=node.source,
        domain=node.domain,
        properties=node.properties,
        current=about.current,
        immutable=node.immutable,
        valid_from=node.valid_from,
        valid_to=node.valid_to,
        recorded_at=recorded_at,
        author=author_of(node.actor, about.owner) if node.origin is None else node.origin.author,
        source_class=node.source_class,
        stated_at=node.stated_at or recorded_at,
        stated_to=node.stated_to,
        ended_by=about.ended_by and about.called(about.ended_by),
        retracted=node.retracted,
        confirmed_as=node.confirmed_as,
        confirmed_at=node.confirmed_at,
        disputed=node.disputed,
        decision=about.decision if node.origin is None else node.origin.decision,
    )


def edge_record(edge: Edge, about: Exported) -> EdgeRecord:
    """Returns the record of an edge's state."""
    return EdgeRecord(
        source=about.called(edge.source),
        target=about.called(edge.target),
        type=edge.type,
        stated_in=edge.stated_in,
        properties=edge.properties,
        current=about.current,
        valid_from=edge.valid_from,
        valid_to=edge.valid_to,
        recorded_at=edge.recorded_at if edge.origin is None else edge.origin.recorded_at,
        author=author_of(edge.actor, about.owner) if edge.origin is None else edge.origin.author,
        source_class=edge.source_class,
        disputed=edge.disputed,
        decision=about.decision if edge.origin is None else edge.origin.decision,
    )


def origin_of(record: StateRecord) -> Origin | None:
    """Returns where a record's state was first recorded, or None if this import is the first record."""
    if record.recorded_at is None:
        return None
    return Origin(recorded_at=record.recorded_at, author=record.author, decision=record.decision)
