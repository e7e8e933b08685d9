"""API keys in the ledger: made, rotated, suspended and revoked, and how much each was used.

A key's text is given once, by the step that makes it. What every request asks is in `key_lookup.py`.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from contracts.access.api_keys import ApiKey, new_key
from contracts.access.tiers import Tier
from contracts.errors import KeyUnknown
from contracts.secrets import PEPPER_VERSION
from warehouse.ledger.ledger import Reader, Transaction, utc_text

KEY_CHANGED = "key"
"""Kind of these entities on the change feed; the id is the key's."""


class KeyState(StrEnum):
    """A suspended key may come back; a revoked one is never valid again."""

    ACTIVE = "active"
    SUSPENDED = "suspended"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """A key as the ledger holds it. Keys that follow one another by rotation share `family_id` and one quota."""

    key_id: str
    family_id: str
    hint: str
    tier: Tier
    owner: str
    claim_id: str | None
    state: KeyState
    paid_until: datetime | None
    created_at: datetime
    changed_at: datetime
    first_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class KeyUsage:
    """A key and how much it was used: admitted requests of all days and of the present UTC day."""

    key: KeyRecord
    requests: int
    requests_today: int
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A key that was just made: the only time that its text is there."""

    key: ApiKey
    record: KeyRecord


@dataclass(frozen=True, slots=True)
class KeyUse:
    """Admitted requests of a key on one UTC day (`YYYY-MM-DD`), to be added to that day."""

    key_id: str
    day: str
    requests: int
    last_used_at: datetime


def create_key(
    tx: Transaction,
    pepper: bytes,
    *,
    tier: Tier,
    owner: str,
    now: datetime,
    claim_id: str | None = None,
    paid_until: datetime | None = None,
    key: ApiKey | None = None,
    sealed: str | None = None,
) -> IssuedKey:
    """Make an active key of `owner`; a second one that is alive for the same claim breaks a constraint.

    `key` is one that the caller made with `new_key`, in order to seal it: `sealed` is what is kept of that until the
    key's first use.
    """
    return _insert(tx, pepper, key or new_key(tier), None, tier, owner, claim_id, paid_until, sealed, now)


def rotate_key(
    tx: Transaction, pepper: bytes, key_id: str, *, now: datetime, key: ApiKey | None = None, sealed: str | None = None
) -> IssuedKey:
    """Revoke a key and make the next one of its family, with its tier, owner, claim, paid time, quota and suspension.

    Raises `KeyUnknown` where there is no such key or it is revoked.
    """
    held = find_key(tx, key_id)
    if held is None or held.state is KeyState.REVOKED:
        raise _unknown(key_id)
    revoke_key(tx, key_id, now=now)
    issued = _insert(
        tx,
        pepper,
        key or new_key(held.tier),
        held.family_id,
        held.tier,
        held.owner,
        held.claim_id,
        held.paid_until,
        sealed,
        now,
    )
    if held.state is KeyState.SUSPENDED:
        suspend_key(tx, issued.record.key_id, now=now)
    return issued


def revoke_key(tx: Transaction, key_id: str, *, now: datetime) -> bool:
    """Make a key invalid for ever. False where it was so already; raises `KeyUnknown` where there is none."""
    return _move(tx, key_id, (KeyState.ACTIVE, KeyState.SUSPENDED), KeyState.REVOKED, now)


def suspend_key(tx: Transaction, key_id: str, *, now: datetime) -> bool:
    """Make an active key invalid for the time being. False where it was not active; raises `KeyUnknown`."""
    return _move(tx, key_id, (KeyState.ACTIVE,), KeyState.SUSPENDED, now)


def reinstate_key(tx: Transaction, key_id: str, *, now: datetime) -> bool:
    """Make a suspended key valid again. False where it was not suspended; raises `KeyUnknown`."""
    return _move(tx, key_id, (KeyState.SUSPENDED,), KeyState.ACTIVE, now)


def find_key(reader: Reader, key_id: str) -> KeyRecord | None:
    """The key with this id, whatever its state."""
    row = reader.row("key", key_id=key_id)
    return None if row is None else _record(row)


def alive_key_of_claim(reader: Reader, claim_id: str) -> KeyRecord | None:
    """The key of a claim that is not revoked."""
    row = reader.row("alive_key_of_claim", claim_id=claim_id)
    return None if row is None else _record(row)


def list_keys(reader: Reader, *, now: datetime) -> list[KeyUsage]:
    """Every key, newest first, with its use; requests of the last seconds may not be in it yet."""
    return [
        KeyUsage(_record(row), int(row["requests"]), int(row["requests_today"]), _instant(row["last_used_at"]))
        for row in reader.rows("keys", day=_day(now))
    ]


def sealed_key(reader: Reader, key_id: str) -> str | None:
    """What was kept sealed of a key; None from its first use on."""
    row = reader.row("sealed_key", key_id=key_id)
    return None if row is None else str(row["sealed"])


def forget_sealed_keys(tx: Transaction, created_before: datetime) -> int:
    """Forget what is sealed of older keys, and say of how many."""
    return tx.run("forget_sealed_keys", created_before=utc_text(created_before))


def record_first_use(tx: Transaction, key_id: str, *, now: datetime) -> None:
    """Acknowledge by use: the holder has the key, so nothing is kept sealed any more."""
    tx.run("record_first_key_use", key_id=key_id, first_used_at=utc_text(now))


def add_uses(tx: Transaction, uses: Iterable[KeyUse]) -> None:
    """Add a batch of uses to their days. They are no change of the keys, so the feed does not hear of them."""
    for use in uses:
        tx.run(
            "add_key_uses",
            key_id=use.key_id,
            day=use.day,
            requests=use.requests,
            last_used_at=utc_text(use.last_used_at),
        )


def _insert(
    tx: Transaction,
    pepper: bytes,
    key: ApiKey,
    family_id: str | None,
    tier: Tier,
    owner: str,
    claim_id: str | None,
    paid_until: datetime | None,
    sealed: str | None,
    now: datetime,
) -> IssuedKey:
    key_id = f"key_{secrets.token_hex(16)}"
    tx.run(
        "insert_key",
        key_id=key_id,
        family_id=family_id or key_id,
        digest=key.digest(pepper),
        pepper_version=PEPPER_VERSION,
        hint=key.redacted,
        tier=tier.value,
        owner=owner,
        claim_id=claim_id,
        paid_until=None if paid_until is None else utc_text(paid_until),
        sealed=sealed,
        created_at=utc_text(now),
    )
    tx.changed(KEY_CHANGED, key_id)
    record = find_key(tx, key_id)
    assert record is not None
    return IssuedKey(key, record)


def _move(tx: Transaction, key_id: str, allowed: tuple[KeyState, ...], state: KeyState, now: datetime) -> bool:
    held = find_key(tx, key_id)
    if held is None:
        raise _unknown(key_id)
    if held.state not in allowed:
        return False
    tx.run("set_key_state", key_id=key_id, from_state=held.state.value, state=state.value, changed_at=utc_text(now))
    tx.changed(KEY_CHANGED, key_id)
    return True


def _unknown(key_id: str) -> KeyUnknown:
    return KeyUnknown(f"No key {key_id} is alive here.", cure="`svc keys list` shows the ids of all keys.")


def _record(row: Any) -> KeyRecord:
    return KeyRecord(
        key_id=row["key_id"],
        family_id=row["family_id"],
        hint=row["hint"],
        tier=Tier(row["tier"]),
        owner=row["owner"],
        claim_id=row["claim_id"],
        state=KeyState(row["state"]),
        paid_until=_instant(row["paid_until"]),
        created_at=datetime.fromisoformat(row["created_at"]),
        changed_at=datetime.fromisoformat(row["changed_at"]),
        first_used_at=_instant(row["first_used_at"]),
    )


def _instant(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _day(now: datetime) -> str:
    return now.astimezone(UTC).strftime("%Y-%m-%d")
