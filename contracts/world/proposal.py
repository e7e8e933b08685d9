"""Defines proposed changes of the graph and decisions about them. `validator.py` makes the decisions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any, Literal, TypeVar

import msgspec

from contracts.canonical import canonical_json, canonical_sha256
from contracts.errors import BodyInvalid
from contracts.standing import KEYS_CLAIM, UNSTATED, SourceClass, lower
from contracts.times import normal_instant
from contracts.world.records import Edge, Node, Visibility
from contracts.world.text import fault_of_text, fault_of_title

LONGEST_TITLE = 300
LONGEST_SOURCE = 500
LONGEST_KEY = 200
LARGEST_PROPERTIES_BYTES = 24_000
DEEPEST_PROPERTIES = 16
MOST_NODES = 10_000
MOST_EDGES = 50_000
HIGHEST_REVISION = 2**53 - 1

ID_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._:/@#-]{0,199}"
_ID = re.compile(ID_PATTERN)

CLOCK_SKEW = timedelta(minutes=5)
"""Maximum time by which a sender's clock may be ahead of the service's."""

ActorKind = Literal["caller", "capsule", "claimant", "pipeline", "intake", "constitution", "operator"]
Verdict = Literal["approved", "rejected", "escalated"]
ActKind = Literal["corrects", "retracts", "confirms"]
StageName = Literal[
    "immutability", "temporal", "referential_integrity", "authority", "deduplication", "provenance", "alignment"
]


class Actor(msgspec.Struct, frozen=True):
    """The author of a proposal.

    Nodes and the audit record its `name`: `Caller.owner`, `capsule:<id>`, `pipeline`, `intake`, `constitution` or
    `operator:<name>`.
    """

    kind: ActorKind
    name: str
    on_behalf_of: str | None = None
    """The owner whose proposal an operator approves."""
    takes_over: str | None = None
    """The capsule whose nodes and edges a claimant takes over."""
    max_class: SourceClass = KEYS_CLAIM
    """The highest class that it may claim, and that it may correct, retract or confirm."""

    @property
    def owner(self) -> str | None:
        """Returns the owner of the private part that the actor writes, or None if it writes the public part."""
        return self.name if self.kind in ("caller", "capsule", "claimant") else self.on_behalf_of

    def claimed(self, source_class: SourceClass) -> SourceClass:
        """Returns the class of a statement that claims `source_class`. Only acts of the owner give the class OWNER."""
        most = KEYS_CLAIM if self.max_class is SourceClass.OWNER else self.max_class
        return lower(source_class, most)


PIPELINE = Actor("pipeline", "pipeline")
INTAKE = Actor("intake", "intake")
CONSTITUTION = Actor("constitution", "constitution")


def authority_of(actor: Actor) -> SourceClass:
    """Returns the class up to which an actor may correct, retract and confirm. An operator decides for everybody."""
    return SourceClass.OWNER if actor.kind == "operator" else actor.max_class


class NodeDraft(msgspec.Struct, frozen=True, kw_only=True):
    """The whole new state of a node, identified by its id.

    Times are RFC 3339 with an offset. Without `valid_from` a known node keeps its start and a new one starts now.
    """

    id: str
    type: str
    title: str
    domain: str | None = None
    """Only checked: the type determines the domain."""
    properties: dict[str, Any] = {}
    visibility: Visibility = "private"
    immutable: bool = False
    valid_from: str | None = None
    valid_to: str | None = None


class EdgeDraft(msgspec.Struct, frozen=True, kw_only=True):
    """The whole new state of an edge, identified by its owner, ends and type."""

    source: str
    target: str
    type: str
    properties: dict[str, Any] = {}
    visibility: Visibility = "private"
    valid_from: str | None = None
    valid_to: str | None = None


def ended_node(node: Node, now: str) -> NodeDraft:
    """Returns the draft that ends a node at `now` and changes nothing else."""
    return NodeDraft(
        id=node.id,
        type=node.type,
        title=node.title,
        properties=node.properties,
        visibility=node.visibility,
        immutable=node.immutable,
        valid_from=node.valid_from,
        valid_to=now,
    )


def ended_edge(edge: Edge, now: str) -> EdgeDraft:
    """Returns the draft that ends an edge at `now` and changes nothing else."""
    return EdgeDraft(
        source=edge.source,
        target=edge.target,
        type=edge.type,
        properties=edge.properties,
        visibility=edge.visibility,
        valid_from=edge.valid_from,
        valid_to=now,
    )


class Act(msgspec.Struct, frozen=True):
    """The effect of a proposal's node on an existing node: `by` is the node of the proposal."""

    kind: ActKind
    by: str
    target: str
    reason: str

    def edge(self, visibility: Visibility = "private") -> EdgeDraft:
        """Returns the edge that records the act in the graph."""
        return EdgeDraft(
            source=self.by,
            target=self.target,
            type=self.kind.upper(),
            properties={"reason": self.reason},
            visibility=visibility,
        )


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes and edges that an actor wants to write, all of them or none. `source` is the origin of the statements."""

    actor: Actor
    source: str
    nodes: tuple[NodeDraft, ...] = ()
    edges: tuple[EdgeDraft, ...] = ()
    expected_revision: int | None = None
    """The newest revision that the actor has seen.

    A newer change of the actor's own part of the graph, or of a node or fact that the proposal touches, is a conflict.
    """
    idempotency_key: str | None = None
    """The actor's own name for this request. A repetition gets the same answer."""
    source_class: SourceClass = UNSTATED
    """The class that the statements claim, limited by the actor's `max_class`."""
    acts: tuple[Act, ...] = ()
    is_act_only: bool = False
    """True if its nodes state nothing themselves: they end as soon as they are recorded."""
    is_one_statement: bool = False
    """True if its edges belong to the statement of its only node, so that they hold for the same time."""

    def request_sha256(self) -> str:
        """Returns the digest of the request's statements. The revision that the actor has seen is not part of it.

        Fields that earlier versions lacked are omitted at their defaults, so that old requests keep their digests.
        """
        stated = msgspec.to_builtins(msgspec.structs.replace(self, idempotency_key=None, expected_revision=None))
        # these follow from the key and the rest
        del stated["actor"]["max_class"], stated["is_act_only"], stated["is_one_statement"]
        if not self.acts:
            del stated["acts"]
        if self.source_class is UNSTATED:
            del stated["source_class"]
        return canonical_sha256(stated)


def content_key(stated: Any, after: int) -> str:
    """Returns the idempotency key of statements for which the client sent none: their digest, and the decision `after`
    which they are repeated. Raises `ValueError` for values that JSON can't carry."""
    digest = f"content:{canonical_sha256(stated)}"
    return f"{digest}:{after}" if after else digest


def repetition_of(key: str) -> tuple[str, int] | None:
    """Splits the key of a repetition into the key of the first statement and the decision after which it is repeated.
    Returns None for any other key."""
    found = _REPETITION.fullmatch(key)
    return None if found is None else (found[1], int(found[2]))


_REPETITION = re.compile(r"(content:[0-9a-f]{64}):([0-9]+)")


class StageResult(msgspec.Struct, frozen=True):
    """The result of one stage, with its reason."""

    stage: StageName
    result: Literal["pass", "warn", "fail"]
    reason: str


class Confirmation(msgspec.Struct, frozen=True, rename="camel"):
    """A client's unproven claim that the owner agreed to a write."""

    client: str
    """The name that the client gave itself."""
    via: Literal["mcp", "http"]


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """A decision. `nodes` and `edges` are the states that it wrote; `seq` names the entry of the audit.

    `revision` is the graph's revision after the decision.
    """

    seq: int
    verdict: Verdict
    stages: tuple[StageResult, ...]
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    revision: int
    replayed: bool = False
    """True if this repeats an earlier answer to the same request."""


_Draft = TypeVar("_Draft", NodeDraft, EdgeDraft)


def checked(proposal: Proposal) -> Proposal:
    """Returns the proposal with normalised times. Raises `BodyInvalid`, which names each fault."""
    faults = list(_faults(proposal))
    if faults:
        detail = "; ".join(f"{pointer}: {fault}" for pointer, fault in faults[:3])
        raise BodyInvalid(detail, errors=faults)
    return msgspec.structs.replace(
        proposal, nodes=tuple(map(_timed, proposal.nodes)), edges=tuple(map(_timed, proposal.edges))
    )


def _timed(draft: _Draft) -> _Draft:
    return msgspec.structs.replace(draft, valid_from=_instant(draft.valid_from), valid_to=_instant(draft.valid_to))


def _instant(text: str | None) -> str | None:
    return None if text is None else normal_instant(text)


def _faults(proposal: Proposal) -> Iterator[tuple[str, str]]:
    if not proposal.nodes and not proposal.edges:
        yield "/nodes", "a proposal contains at least one node or edge"
    if len(proposal.nodes) > MOST_NODES or len(proposal.edges) > MOST_EDGES:
        yield "/nodes", f"a proposal contains at most {MOST_NODES:,} nodes and {MOST_EDGES:,} edges"
        return
    if fault := fault_of_title(proposal.source, LONGEST_SOURCE):
        yield "/source", fault
    if proposal.idempotency_key is not None and (fault := fault_of_title(proposal.idempotency_key, LONGEST_KEY)):
        yield "/idempotencyKey", fault
    if proposal.expected_revision is not None and not 0 <= proposal.expected_revision <= HIGHEST_REVISION:
        yield "/expectedRevision", "is not a revision"
    for number, node in enumerate(proposal.nodes):
        at = f"/nodes/{number}"
        yield from _id_faults(f"{at}/id", node.id)
        yield from _text_faults(f"{at}/type", node.type)
        if fault := fault_of_title(node.title, LONGEST_TITLE):
            yield f"{at}/title", fault
        yield from _common_faults(at, node)
    for number, act in enumerate(proposal.acts):
        yield from _id_faults(f"/acts/{number}/target", act.target)
        yield from _text_faults(f"/acts/{number}/reason", act.reason, LONGEST_SOURCE)
    for number, edge in enumerate(proposal.edges):
        at = f"/edges/{number}"
        yield from _id_faults(f"{at}/source", edge.source)
        yield from _id_faults(f"{at}/target", edge.target)
        yield from _text_faults(f"{at}/type", edge.type)
        yield from _common_faults(at, edge)


def _common_faults(at: str, draft: NodeDraft | EdgeDraft) -> Iterator[tuple[str, str]]:
    for name, text in (("validFrom", draft.valid_from), ("validTo", draft.valid_to)):
        try:
            _instant(text)
        except ValueError:
            yield f"{at}/{name}", "is not an RFC 3339 time with its offset, such as 2026-01-31T12:00:00Z"
    if fault := fault_of_properties(draft.properties):
        yield f"{at}/properties", fault


def is_id(text: str) -> bool:
    """Decides whether a text can be the id of a node."""
    return _ID.fullmatch(text) is not None


def _id_faults(pointer: str, text: str) -> Iterator[tuple[str, str]]:
    if not is_id(text):
        yield pointer, "is not a valid id: 1 to 200 letters, digits and . _ : / @ # -"


def _text_faults(pointer: str, text: str, longest: int = LONGEST_KEY) -> Iterator[tuple[str, str]]:
    if fault := fault_of_title(text, longest):
        yield pointer, fault


def fault_of_properties(properties: dict[str, Any]) -> str | None:
    """Returns why no node or edge can have these properties, or None."""
    if not properties:
        return None
    if fault := _fault_of_value(properties, 1):
        return fault
    try:
        size = len(canonical_json(properties))
    except ValueError:  # also raised for values without a canonical form
        return "contain a number that JSON can't represent exactly: integers go up to 2^53 - 1"
    if size > LARGEST_PROPERTIES_BYTES:
        return f"take {size:,} bytes; the maximum is {LARGEST_PROPERTIES_BYTES:,}"
    return None


def _fault_of_value(value: Any, depth: int) -> str | None:
    if depth > DEEPEST_PROPERTIES:
        return f"are nested deeper than {DEEPEST_PROPERTIES}"
    if isinstance(value, str):
        return fault_of_text(value)
    inner: Iterable[Any] = ()
    if isinstance(value, dict):
        inner = (*value, *value.values())
    elif isinstance(value, list):
        inner = value
    return next((fault for part in inner if (fault := _fault_of_value(part, depth + 1))), None)
