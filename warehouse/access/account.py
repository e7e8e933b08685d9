"""Reads the account of a key from the ledger, and lets a key rotate and revoke itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from contracts.access.account import KEYS_SHOWN
from contracts.access.api_keys import ApiKey, new_key
from contracts.access.claims import ANSWER_KEPT
from contracts.sealing import seal
from contracts.times import utc_day
from warehouse.access.claims import find_claim
from warehouse.access.keys import (
    KeyRecord,
    KeyState,
    find_key,
    forget_sealed_keys,
    revoke_key,
    rotate_key,
    sealed_key,
)
from warehouse.ledger.ledger import Reader, Transaction, utc_text
from warehouse.ledger.records import record_of


@dataclass(frozen=True, slots=True)
class FamilyKey:
    """A key of a family, and the time of its last use."""

    key: KeyRecord
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class Account:
    """A key with its family: `keys` newest first, and requests by UTC day (`YYYY-MM-DD`)."""

    key: KeyRecord
    plan_id: str | None
    keys: list[FamilyKey]
    family_size: int
    requests: dict[str, int]


@dataclass(frozen=True, slots=True)
class Rotation:
    """A rotation that a key requested."""

    key: KeyRecord
    """The key that is revoked."""
    successor: KeyRecord
    sealed: str | None
    """The text of the successor, sealed for `request_digest`; None once it was used or is no longer repeated."""
    was_done: bool
    """True if an earlier request caused it."""


def read_account(reader: Reader, key_id: str, since: datetime) -> Account | None:
    """Returns the account of a key with its use from the day of `since` on, or None if there is no such key."""
    key = find_key(reader, key_id)
    if key is None:
        return None
    claim = None if key.claim_id is None else find_claim(reader, key.claim_id)
    keys = reader.rows("family_keys", family_id=key.family_id, most=KEYS_SHOWN)
    uses = reader.rows("family_uses", family_id=key.family_id, since=utc_day(since))
    [size] = reader.rows("family_size", family_id=key.family_id)
    return Account(
        key=key,
        plan_id=None if claim is None else claim.plan_id,
        keys=[record_of(FamilyKey, row, key=row) for row in keys],
        family_size=int(size["keys"]),
        requests={row["day"]: int(row["requests"]) for row in uses},
    )


def find_rotation(reader: Reader, request_digest: str, *, now: datetime) -> Rotation | None:
    """Returns the rotation that answered a request, or None."""
    row = reader.row("key_rotation", request_digest=request_digest)
    if row is None:
        return None
    key, successor = find_key(reader, row["key_id"]), find_key(reader, row["successor_id"])
    assert key is not None and successor is not None
    repeats = now - datetime.fromisoformat(row["rotated_at"]) <= ANSWER_KEPT
    return Rotation(key, successor, sealed_key(reader, successor.key_id) if repeats else None, was_done=True)


def rotate_itself(
    tx: Transaction, pepper: bytes, sealing_key: bytes, key: ApiKey, request_digest: str, *, now: datetime
) -> Rotation | None:
    """Revokes the presented key and creates the next one of its family. The same request gets the same rotation.

    Returns None if the key is not active and this is not the request that rotated it.
    """
    done = find_rotation(tx, request_digest, now=now)
    if done is not None:
        return done
    row = tx.row("key_by_digest_in_any_state", digest=key.digest(pepper))
    current = None if row is None else record_of(KeyRecord, row)
    if current is None or current.state is not KeyState.ACTIVE:
        return None
    text = new_key(current.tier)
    sealed = seal(sealing_key, text.reveal(), request_digest)
    issued = rotate_key(tx, pepper, current.key_id, now=now, key=text, sealed=sealed)
    tx.run(
        "add_key_rotation",
        request_digest=request_digest,
        key_id=current.key_id,
        successor_id=issued.record.key_id,
        rotated_at=utc_text(now),
    )
    forget_sealed_keys(tx, now - ANSWER_KEPT)
    return Rotation(current, issued.record, sealed, was_done=False)


def revoke_itself(tx: Transaction, key_id: str, *, now: datetime) -> KeyRecord | None:
    """Revokes a key at its own request. Returns None if it was revoked before."""
    if not revoke_key(tx, key_id, now=now):
        return None
    tx.run("add_key_revocation", key_id=key_id, revoked_at=utc_text(now))
    return find_key(tx, key_id)
