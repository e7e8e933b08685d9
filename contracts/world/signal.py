"""Turns a signal, which is one statement of an agent about its world, into a proposal. Pure."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StrictInt

from contracts.base import Document, Listed
from contracts.errors import BodyInvalid
from contracts.standing import UNSTATED, SourceClass
from contracts.world.graph_documents import DecisionFields, DisputeDocument, Instant, OneLine
from contracts.world.identity import content_id
from contracts.world.ontology import Ontology, load_ontology
from contracts.world.proposal import (
    DEEPEST_PROPERTIES,
    HIGHEST_REVISION,
    ID_PATTERN,
    LARGEST_PROPERTIES_BYTES,
    LONGEST_SOURCE,
    LONGEST_TITLE,
    Act,
    ActKind,
    Actor,
    EdgeDraft,
    NodeDraft,
    Proposal,
    content_key,
)
from contracts.world.records import Visibility

MOST_LINKS = 100
LONGEST_SIGNAL_KEY = 150

_LATER_FIELDS = {"source_class", "valid_from", "corrects", "retracts", "confirms"}
"""Fields that earlier versions lacked. They count towards a signal's identity only if they differ from the default."""


class SignalLink(Document):
    """A relationship between the signal and an existing node. It holds for the same time as the signal."""

    type: str = Field(
        min_length=1,
        max_length=100,
        description="A relationship type of /api/v2/schema or of your ontology",
        json_schema_extra={"examples": list(load_ontology().edge_types)},
    )
    target: str = Field(min_length=1, max_length=200, description="The id of a node that you can see")
    direction: Literal["outbound", "inbound"] = Field(
        default="outbound", description="outbound: from the signal to the target; inbound: from the target to it"
    )


class SignalAct(Document):
    """An existing node that the signal corrects, retracts or confirms, and why."""

    id: str = Field(pattern=f"^{ID_PATTERN}$", description="The id of one of your nodes; a public one escalates")
    reason: Annotated[str, OneLine] = Field(
        min_length=1, max_length=LONGEST_SOURCE, description="One line, stored with the change"
    )


class SignalRequest(Document):
    """One statement. It is a fact if its payload has a `subject` and a single-valued `predicate`: one listed in
    `/api/v2/schema` or in your ontology.

    It supersedes an earlier fact of the same source, or of equal or lower standing: `sourceClass`, then `confidence`
    below 0.3, below 0.7 or above. Otherwise both hold as disputed. An older observation goes into history.
    """

    type: str = Field(
        min_length=1,
        max_length=100,
        description="A node type of /api/v2/schema or of your ontology",
        json_schema_extra={"examples": list(load_ontology().node_types)},
    )
    title: str | None = Field(default=None, description=f"One line, at most {LONGEST_TITLE} characters")
    domain: str | None = Field(default=None, description="The domain of the type; only checked")
    payload: dict[str, Any] = Field(
        default={},
        description=f"The node's properties: at most {LARGEST_PROPERTIES_BYTES:,} bytes as RFC 8785 writes them, and "
        f"at most {DEEPEST_PROPERTIES} levels, counting the payload as the first and its innermost values as the last",
    )
    source: str = Field(description="Where the statement comes from")
    source_class: SourceClass = Field(
        default=UNSTATED,
        description="The standing that it claims, highest first; your key limits it. A higher claim is stored as the "
        "highest class allowed, and the stage `provenance` warns and names it",
    )
    observed_at: Instant | None = Field(default=None, description="When it was observed; default now")
    valid_from: Instant | None = Field(
        default=None,
        description="From when it holds, with its links; default `observedAt`, or the start of the node that it "
        "corrects. A future start makes it a plan, which waits for its day",
    )
    valid_to: Instant | None = Field(
        default=None, description="Until when it holds, with its links; default until further notice"
    )
    confidence: float | None = Field(default=None, ge=0, le=1, strict=True)
    links: Listed[SignalLink] = Field(default=[], max_length=MOST_LINKS)
    corrects: SignalAct | None = Field(
        default=None,
        description="A node that was wrong: this one replaces it and gets its edges, except those of a single-valued "
        "type that `links` state otherwise. They keep their times; those that began or ended with the wrong node begin "
        "or end with this one",
    )
    retracts: SignalAct | None = Field(
        default=None,
        description="A node that was wrong and that nothing replaces. A signal without title, payload and links is not "
        "listed among the nodes of its type",
    )
    confirms: SignalAct | None = Field(
        default=None,
        description="A node that holds: the confirmation ends its dispute. Confirmed by the owner, it has the owner's "
        "standing. Listed as with `retracts`",
    )
    signature: str | None = Field(
        default=None,
        max_length=200,
        description="Ed25519 signature (base64url) by the key's signer over RFC 8785 of this body without it; "
        "`sourceClass` `signed_system` needs it",
    )
    visibility: Visibility = Field(default="private", description="`public` waits for an operator")
    idempotency_key: str | None = Field(
        default=None,
        min_length=1,
        max_length=LONGEST_SIGNAL_KEY,
        description="Your name for this signal: a repetition gets the same answer. Without it, equal signals count as "
        "one until their statement is replaced or retracted. A repetition whose node was erased is rejected; under "
        "another name it is accepted",
    )
    expected_revision: StrictInt | None = Field(
        default=None,
        ge=0,
        le=HIGHEST_REVISION,
        description="The newest revision that you have seen: 409 if your part of the graph, or anything that the "
        "signal touches, has changed since; 400 for a future revision",
    )


class SignalResult(DecisionFields):
    """The decision about a signal."""

    accepted: bool = Field(
        description="False if a stage rejected it, so that nothing was written; otherwise it is written or waits for "
        "agreement, as `verdict` states"
    )
    signal_id: str = Field(description="The id of its node")
    disputes: list[DisputeDocument] = Field(description="The disputes of the nodes that were written")


class SignalAnswer(Document):
    """The envelope of a signal's result."""

    ok: Literal[True] = True
    data: SignalResult


def is_said_again(signal: SignalRequest) -> bool:
    """Decides whether an equal signal is a new statement once the first one has ended: it has no idempotency key, and
    states what holds now.

    Example: "The door is open" is stated each time the door is opened, but a retry must find the first statement.
    """
    times = (signal.observed_at, signal.valid_from)
    return signal.idempotency_key is None and times == (None, None) and not any(_acts(signal).values())


def signal_proposal(
    signal: SignalRequest, actor: Actor, ontology: Ontology, *, after: int = 0, author: str | None = None
) -> Proposal:
    """Returns the proposal of a signal: one node and its edges. Raises `BodyInvalid` for an unknown type or domain.

    `after` is the decision about the equal statement before it, if that has ended; 0 for the first one. `author` is the
    owner of the key that first sent it, if that is another owner.
    """
    _refuse_unknown(signal, ontology.part_of(actor.owner if signal.visibility == "private" else None))
    stated = signal.model_dump(mode="json", by_alias=True, exclude={"expected_revision", "signature", *_LATER_FIELDS})
    stated |= signal.model_dump(mode="json", by_alias=True, include=_LATER_FIELDS, exclude_defaults=True)
    try:
        key = f"signal:{signal.idempotency_key}" if signal.idempotency_key else content_key(stated, after)
    except ValueError:
        raise BodyInvalid(
            "The payload contains a number that JSON can't represent exactly: integers go up to 2^53 - 1.",
            errors=[("/payload", "contains a number that JSON can't represent exactly")],
        ) from None
    node_id = content_id("signal", author or actor.name, key)
    properties = dict(signal.payload)
    if signal.confidence is not None:
        properties["confidence"] = signal.confidence
    if signal.observed_at is not None:
        properties["observed_at"] = signal.observed_at
    node = NodeDraft(
        id=node_id,
        type=signal.type,
        title=_title(signal),
        domain=signal.domain,
        properties=properties,
        visibility=signal.visibility,
        valid_from=signal.valid_from or signal.observed_at,
        valid_to=signal.valid_to,
    )
    return Proposal(
        actor=actor,
        source=signal.source,
        nodes=(node,),
        edges=tuple(_edge(node_id, link, signal.visibility) for link in signal.links),
        expected_revision=signal.expected_revision,
        idempotency_key=key,
        source_class=signal.source_class,
        acts=tuple(Act(kind, node_id, act.id, act.reason) for kind, act in _acts(signal).items() if act is not None),
        is_act_only=_is_act_only(signal),
        is_one_statement=True,
    )


def _is_act_only(signal: SignalRequest) -> bool:
    """Decides whether a signal only retracts or confirms: it has no title, payload or links."""
    acts = signal.retracts is not None or signal.confirms is not None
    return acts and signal.corrects is None and signal.title is None and not signal.payload and not signal.links


def _acts(signal: SignalRequest) -> dict[ActKind, SignalAct | None]:
    return {"corrects": signal.corrects, "retracts": signal.retracts, "confirms": signal.confirms}


def pointed_at_signal(problem: BodyInvalid) -> BodyInvalid:
    """Returns the same problem with pointers into the signal's body instead of into the proposal."""
    errors = [(_pointer(pointer), detail) for pointer, detail in problem.errors]
    return BodyInvalid("; ".join(f"{pointer[1:]} {detail}" for pointer, detail in errors[:3]) + ".", errors=errors)


def _refuse_unknown(signal: SignalRequest, ontology: Ontology) -> None:
    faults = []
    if signal.type not in ontology.node_types:
        faults.append(("/type", f"is not one of {', '.join(sorted(ontology.node_types))}"))
    if signal.domain is not None and signal.domain not in ontology.domains:
        faults.append(("/domain", f"is not one of {', '.join(ontology.domains)}"))
    acted: set[str] = set()
    for kind, act in _acts(signal).items():
        if act is not None and act.id in acted:
            faults.append((f"/{kind}/id", "names the node of another act"))
        elif act is not None:
            acted.add(act.id)
    for number, link in enumerate(signal.links):
        if link.type not in ontology.edge_types:
            faults.append((f"/links/{number}/type", f"is not one of {', '.join(sorted(ontology.edge_types))}"))
    if faults:
        raise BodyInvalid("; ".join(f"{pointer[1:]} {fault}" for pointer, fault in faults), errors=faults)


def _title(signal: SignalRequest) -> str:
    if signal.title is not None:
        return signal.title
    about = signal.payload.get("subject")
    if isinstance(about, str) and about.strip():
        return " ".join(f"{signal.type} of {about}".split())[:LONGEST_TITLE]
    return f"{signal.type} from {signal.source}"[:LONGEST_TITLE]


def _edge(node_id: str, link: SignalLink, visibility: Visibility) -> EdgeDraft:
    source, target = (node_id, link.target) if link.direction == "outbound" else (link.target, node_id)
    return EdgeDraft(source=source, target=target, type=link.type, visibility=visibility)


def _pointer(pointer: str) -> str:
    part, *rest = pointer.strip("/").split("/")
    if part == "nodes" and len(rest) > 1:
        return {"properties": "/payload"}.get(rest[1], f"/{rest[1]}")
    if part == "edges" and rest:
        return f"/links/{rest[0]}"
    return pointer
