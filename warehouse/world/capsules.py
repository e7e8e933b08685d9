"""Stores onboarding capsules in the ledger: creates them, and attaches them to a key's owner with a one-time token."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import datetime

from contracts.canonical import canonical_sha256
from contracts.errors import ClaimTokenUnknown, IdempotencyMismatch, ProposalRejected
from contracts.idempotency import repeats_token
from contracts.times import instant_of, utc_text
from contracts.world.alignment import Alignment
from contracts.world.capsule import ClaimTokenState, WorldModelCreateRequest, capsule_proposal, owner_of
from contracts.world.proposal import Actor, Decision, EdgeDraft, NodeDraft, Proposal, checked
from warehouse.ledger.ledger import Ledger, Row, Transaction
from warehouse.world.events import decode_edges, decode_nodes
from warehouse.world.write import decide, recorded_decision

CAPSULE = "world_capsule"
_TOKEN = re.compile(r"svc_capsule_([0-9a-f]{32})_([0-9a-f]{64})")


@dataclass(frozen=True)
class Capsule:
    """A capsule. `decision` is about its private graph; a rejected capsule was not created and has no id."""

    id: str | None
    decision: Decision
    public_decision: int | None
    token_state: ClaimTokenState
    replayed: bool = False


def create_capsule(
    ledger: Ledger,
    request: WorldModelCreateRequest,
    *,
    request_key: str | None,
    alignment: Alignment,
) -> Capsule:
    """Creates a capsule. Repeating the request with the same `request_key` returns the same capsule.

    Raises `IdempotencyMismatch`.
    """
    digest = canonical_sha256(request.model_dump(mode="json", by_alias=True))
    capsule_id = secrets.token_hex(16)
    private = checked(capsule_proposal(request, capsule_id, "private"))
    public = checked(capsule_proposal(request, capsule_id, "public")) if request.visibility == "public" else None
    aligned = alignment(private)
    aligned_public = None if public is None else alignment(public)
    with ledger.transaction() as tx:
        known = None if request_key is None else tx.row("world_capsule_of_request", request_key=request_key)
        if known is not None:
            if known["request_sha256"] != digest:
                raise IdempotencyMismatch(
                    "This Idempotency-Key came with another request before: repeat that one unchanged, or send a "
                    "fresh key."
                )
            decided = recorded_decision(tx, known["seq"])
            return Capsule(known["id"], decided, known["public_seq"], _token_state(known, tx.now()), replayed=True)
        decision = decide(tx, private, aligned)
        if decision.verdict != "approved":
            return Capsule(None, decision, None, "shown")
        waiting = None
        if public is not None and aligned_public is not None:
            public_decision = decide(tx, public, aligned_public)
            waiting = public_decision.seq if public_decision.verdict == "escalated" else None
        tx.changed(CAPSULE, capsule_id)
        tx.run(
            "world_keep_capsule",
            id=capsule_id,
            request_key=request_key,
            request_sha256=digest,
            seq=decision.seq,
            public_seq=waiting,
            created_at=utc_text(tx.now()),
        )
        return Capsule(capsule_id, decision, waiting, "shown")


def _token_state(known: Row, now: datetime) -> ClaimTokenState:
    if known["claimed_by"] is not None:
        return "used"
    return "shown" if repeats_token(instant_of(known["created_at"]), now) else "no_longer_shown"


def claim_token(pepper: bytes, capsule_id: str) -> str:
    """Derives the token of a capsule. It is never stored, so nobody can claim a capsule with data from the store."""
    mac = hmac.new(pepper, f"capsule claim {capsule_id}".encode(), hashlib.sha256).hexdigest()
    return f"svc_capsule_{capsule_id}_{mac}"


def claim_capsule(
    ledger: Ledger, pepper: bytes, token: str, owner: str, *, alignment: Alignment, key_id: str | None = None
) -> tuple[str, Decision]:
    """Makes a capsule's nodes and edges private to `owner`, the requesting key's. Returns its id and the decision.

    Raises the same `ClaimTokenUnknown` for a wrong and for a used token, and `ProposalRejected`, after which the token
    can be tried again.
    """
    unknown = ClaimTokenUnknown("No capsule waits for this token.")
    match = _TOKEN.fullmatch(token)
    if match is None or not hmac.compare_digest(claim_token(pepper, match[1]), token):
        raise unknown
    with ledger.transaction() as tx:
        if not tx.run("world_claim_capsule", id=match[1], owner=owner):
            raise unknown
        proposal = checked(_handover(tx, match[1], owner))
        decision = decide(tx, proposal, alignment(proposal), key_id=key_id)
        if decision.verdict != "approved":
            raise rejected(decision)
        return match[1], decision


def rejected(decision: Decision) -> ProposalRejected:
    """Returns the problem that explains why a capsule was not written."""
    failed = [stage for stage in decision.stages if stage.result == "fail"]
    return ProposalRejected(
        "; ".join(f"{stage.stage}: {stage.reason}" for stage in failed),
        errors=[(f"/stages/{stage.stage}", stage.reason) for stage in failed],
    )


def _handover(tx: Transaction, capsule_id: str, owner: str) -> Proposal:
    capsule_owner = owner_of(capsule_id)
    nodes = decode_nodes(tx.rows("world_nodes_of_owner", owner=capsule_owner))
    edges = decode_edges(tx.rows("world_edges_of_owner", owner=capsule_owner))
    return Proposal(
        actor=Actor("claimant", owner, takes_over=capsule_owner),
        source="claim",
        nodes=tuple(
            NodeDraft(
                id=node.id,
                type=node.type,
                title=node.title,
                properties=node.properties,
                valid_from=node.valid_from,
                valid_to=node.valid_to,
            )
            for node in nodes
            if not node.erased
        ),
        edges=tuple(
            EdgeDraft(
                source=edge.source,
                target=edge.target,
                type=edge.type,
                properties=edge.properties,
                valid_from=edge.valid_from,
                valid_to=edge.valid_to,
            )
            for edge in edges
        ),
    )
