"""Stores intakes in the ledger: accepts them once, moves them between states and counts them. `rights.py` serves the
rights of their senders."""

import hashlib
import hmac
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from contracts.canonical import canonical_json, sha256_hex
from contracts.errors import BodyInvalid, IdempotencyMismatch
from contracts.idempotency import repeats_token
from contracts.intake import states
from contracts.intake.intake_documents import (
    CountsByLane,
    DayCounts,
    IntakeStats,
    LaneCounts,
    RecentIntake,
    RecentIntakes,
)
from contracts.intake.intake_problems import IntakeUnknown, RegistrationErased
from contracts.intake.profiles import choose_profile
from contracts.intake.requests import (
    CONSENT_VERSION,
    AgentIntake,
    AnyIntake,
    Lane,
    details_of,
    identity_of,
    person_of,
)
from contracts.intake.states import PROVISIONED, IntakeRecord, States, Step, StepName
from contracts.times import instant_of, utc_day
from warehouse.ledger.ledger import Reader, Transaction, utc_text

INTAKE_CHANGED = "intake"
"""The kind under which intakes are on the change feed; the entity id is the intake's id."""

CONSENT_SKEW = timedelta(seconds=60)
"""The greatest time by which a sender's clock may be ahead of ours."""

DAYS_COUNTED = 30
MOST_RECENT = 20
SERVICE = "service"


@dataclass(frozen=True, slots=True)
class AcceptedIntake:
    """An intake that a request created, now or earlier. `erase_token` is None for a replay too late to repeat it."""

    record: IntakeRecord
    replayed: bool
    erase_token: str | None = field(repr=False)


def accept(tx: Transaction, pepper: bytes, request: AnyIntake, request_key: str | None) -> AcceptedIntake:
    """Stores and provisions a request. `request_key` is the digest of its Idempotency-Key: the same request with the
    same key returns the same intake.

    Raises `IdempotencyMismatch`, `RegistrationErased`, and `BodyInvalid` for a consent in the future.
    """
    now = tx.now()
    digest = _digest(pepper, "request", canonical_json(request.model_dump(mode="json", by_alias=True)))
    if request_key is not None and (known := tx.row("intake_of_request", idempotency_digest=request_key)) is not None:
        if known["request_digest"] is None:
            raise RegistrationErased("Send a fresh Idempotency-Key to register again.")
        if not hmac.compare_digest(known["request_digest"], digest):
            raise IdempotencyMismatch(
                "This Idempotency-Key came with another request before: repeat that one unchanged, or send a fresh key."
            )
        record = _known(tx, known["intake_id"])
        token = erase_token(pepper, record.intake_id) if repeats_token(record.received_at, now) else None
        return AcceptedIntake(record, replayed=True, erase_token=token)
    consent_at = _consented_at(request, now)
    lane, details = Lane(request.lane), details_of(request)
    intake_id = secrets.token_hex(16)
    identity = _digest(pepper, f"identity {lane.value}", identity_of(request).encode())
    first = tx.row("intake_first_of_identity", lane=lane.value, identity_digest=identity)
    tx.run(
        "intake_insert",
        intake_id=intake_id,
        graph_key=graph_key(intake_id),
        lane=lane.value,
        profile_id=choose_profile(lane, details).id,
        source=request.source,
        received_at=utc_text(now),
        consent_at=utc_text(consent_at),
        consent_version=request.consent_version or request.consent.policy_version or CONSENT_VERSION,
        current_state=PROVISIONED.current,
        review_state=PROVISIONED.review,
        activation_state=PROVISIONED.activation,
        details_json=json.dumps(details),
        agent_id=request.agent_id if isinstance(request, AgentIntake) else None,
        identity_digest=identity,
        repeats=int(first is not None),
        linked_to=None if first is None else first["intake_id"],
        idempotency_digest=request_key,
        request_digest=digest,
    )
    tx.run("intake_insert_contact", intake_id=intake_id, person_json=json.dumps(person_of(request)))
    for step in ("received", "provisioned"):
        tx.run("intake_append_step", intake_id=intake_id, name=step, taken_at=utc_text(now), taken_by=SERVICE)
    tx.changed(INTAKE_CHANGED, intake_id)
    return AcceptedIntake(_known(tx, intake_id), replayed=False, erase_token=erase_token(pepper, intake_id))


def erase_token(pepper: bytes, intake_id: str) -> str:
    """Returns the token that erases an intake. It is derived and never stored, so that nothing stored can erase."""
    return f"svc_erase_{_digest(pepper, 'erase token', intake_id.encode())}"


def graph_key(intake_id: str) -> str:
    """Derives the name of an intake for places where its id would give access: 32 hex digits from which the id can't be
    recovered."""
    return sha256_hex(f"intake in the graph {intake_id}".encode())[:32]


def find_intake(reader: Reader, intake_id: str) -> IntakeRecord | None:
    """Returns the intake with this id, or None if there is none or it is forgotten."""
    row = reader.row("intake_one", intake_id=intake_id)
    if row is None:
        return None
    person: dict[str, Any] = json.loads(row["person_json"])
    return IntakeRecord(
        intake_id=row["intake_id"],
        lane=Lane(row["lane"]),
        source=row["source"],
        received_at=datetime.fromisoformat(row["received_at"]),
        consent_at=datetime.fromisoformat(row["consent_at"]),
        consent_version=row["consent_version"],
        profile_id=row["profile_id"],
        states=States(row["current_state"], row["review_state"], row["activation_state"]),
        changed_at=datetime.fromisoformat(row["changed_at"]),
        details=json.loads(row["details_json"]),
        shown_person={name: person[name] for name in ("contactFullName",) if name in person},
        steps=tuple(
            Step(step["name"], datetime.fromisoformat(step["taken_at"]))
            for step in reader.rows("intake_steps_of", intake_id=intake_id)
        ),
    )


def review(tx: Transaction, intake_id: str, *, approve: bool, operator: str) -> IntakeRecord:
    """Approves an intake, or requests changes, on behalf of an operator. Raises `IntakeUnknown`."""
    record = known_intake(tx, intake_id)
    if approve:
        return _step(tx, record, states.approved, "review_approved", f"operator:{operator}")
    return _step(tx, record, states.changes_requested, "changes_requested", f"operator:{operator}")


def activate_by_claim(
    tx: Transaction, *, agent_id: str | None, user_id: str | None, claim_id: str, payer: str
) -> list[str]:
    """Activates the intakes that the quote of a newly issued claim names by agentId or userId, and returns their ids.

    Naming an intake gives the payer no rights to it, and takes none from a claim that activated it before. Call this in
    the transaction that issues the claim, with `payer` in lower case.
    """
    if agent_id is None and user_id is None:
        return []
    intake_ids = [row["intake_id"] for row in tx.rows("intake_named_by_claim", agent_id=agent_id, user_id=user_id)]
    for intake_id in intake_ids:
        tx.run("intake_record_claim", intake_id=intake_id, claim_id=claim_id, payer=payer)
        _step(tx, _known(tx, intake_id), states.activated, "activated", f"claim:{claim_id}")
    return intake_ids


def follow_claim(tx: Transaction, claim_id: str, *, holds: bool) -> None:
    """Suspends the intakes that a claim activated when its payment left the chain, and reinstates them when it is back.

    An intake that another claim names stays active through that claim. Call this in the transaction that reverses or
    reinstates the claim.
    """
    move = states.reinstated if holds else states.suspended
    name: StepName = "reinstated" if holds else "suspended"
    for row in tx.rows("intake_of_claim", claim_id=claim_id):
        intake_id = row["intake_id"]
        other = None if holds else tx.row("intake_other_claim", intake_id=intake_id, claim_id=claim_id)
        if other is None:
            _step(tx, _known(tx, intake_id), move, name, f"claim:{claim_id}")
        else:
            tx.run("intake_record_claim", intake_id=intake_id, **other)


def count_intakes(reader: Reader, now: datetime) -> IntakeStats:
    """Counts registrations by lane, and by day for the last thirty days."""
    lanes = {lane.value: LaneCounts(registrations=0, distinct=0, approved=0, active=0) for lane in Lane}
    for row in reader.rows("intake_counts"):
        lanes[row["lane"]] = LaneCounts(
            registrations=int(row["registrations"]),
            distinct=int(row["distinct_count"]),
            approved=int(row["approved"]),
            active=int(row["active"]),
        )
    since = utc_day(now - timedelta(days=DAYS_COUNTED - 1))
    days: dict[str, dict[str, int]] = {}
    for row in reader.rows("intake_days", since=since):
        days.setdefault(row["day"], {lane.value: 0 for lane in Lane})[row["lane"]] = int(row["registrations"])
    return IntakeStats(
        total=sum(counts_of_lane.registrations for counts_of_lane in lanes.values()),
        by_lane=CountsByLane(**lanes),
        by_day=[DayCounts(day=day, **counts) for day, counts in days.items()],
    )


def recent_intakes(reader: Reader) -> RecentIntakes:
    """Returns the newest registrations, anonymised."""
    return RecentIntakes(items=[RecentIntake(**row) for row in reader.rows("intake_recent", most=MOST_RECENT)])


def known_intake(reader: Reader, intake_id: str) -> IntakeRecord:
    """Returns the intake with this id for an operator. Raises `IntakeUnknown`."""
    record = find_intake(reader, intake_id)
    if record is None:
        raise IntakeUnknown("No intake has this id, or it was forgotten.", cure="`svc intake list` shows them.")
    return record


def _known(reader: Reader, intake_id: str) -> IntakeRecord:
    record = find_intake(reader, intake_id)
    assert record is not None, "an intake that was just read"
    return record


def _step(
    tx: Transaction, record: IntakeRecord, move: Callable[[States], States], name: StepName, taken_by: str
) -> IntakeRecord:
    """Moves an intake to another state and records the step. Does nothing if it is in that state already."""
    moved = move(record.states)
    if moved == record.states:
        return record
    now = utc_text(tx.now())
    tx.run(
        "intake_move",
        intake_id=record.intake_id,
        current_state=moved.current,
        review_state=moved.review,
        activation_state=moved.activation,
        changed_at=now,
    )
    tx.run("intake_append_step", intake_id=record.intake_id, name=name, taken_at=now, taken_by=taken_by)
    tx.changed(INTAKE_CHANGED, record.intake_id)
    return _known(tx, record.intake_id)


def _consented_at(request: AnyIntake, now: datetime) -> datetime:
    """Returns the time of consent: the stated one, but never after receipt. Raises `BodyInvalid` if it is further ahead
    than clock skew explains."""
    stated = {"/consentAt": request.consent_at, "/consent/at": request.consent.at}
    instants = {pointer: instant_of(text) for pointer, text in stated.items() if text is not None}
    ahead = [pointer for pointer, instant in instants.items() if instant > now + CONSENT_SKEW]
    if ahead:
        reason = "is in the future: send the time at which consent was given, or leave it out"
        raise BodyInvalid(f"The time of consent {reason}.", errors=[(pointer, reason) for pointer in ahead])
    return min(now, next(iter(instants.values()), now))


def _digest(pepper: bytes, purpose: str, value: bytes) -> str:
    return hmac.new(pepper, f"intake {purpose}\0".encode() + value, hashlib.sha256).hexdigest()
