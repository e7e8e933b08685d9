"""Stores API keys in the ledger: creates, rotates, suspends and revokes them, and records how much each was used.

A key's text is returned once, by the function that creates it. `key_lookup.py` answers every request's lookup.
"""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from contracts.access.api_keys import ApiKey, new_key, parse_key
from contracts.access.tiers import Role, Tier
from contracts.errors import KeyUnknown
from contracts.secrets import PEPPER_VERSION
from contracts.standing import KEYS_CLAIM, SourceClass
from contracts.times import utc_day
from warehouse.ledger.ledger import Reader, Transaction, utc_text
from warehouse.ledger.records import columns_of, record_of

KEY_CHANGED = "key"
"""The kind under which keys are on the change feed; the entity id is the key's id."""

USES_KEPT = timedelta(days=400)
"""Time for which the ledger stores the daily use of keys."""


class KeyState(StrEnum):
    """The state of a key. A suspended key can become active again; a revoked one never does."""

    ACTIVE = "active"
    SUSPENDED = "suspended"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """A key in the ledger. Keys that replace one another by rotation share `family_id` and one quota."""

    key_id: str
    family_id: str
    hint: str
    tier: Tier
    owner: str
    role: Role
    max_class: SourceClass
    signer: str | None
    claim_id: str | None
    state: KeyState
    paid_until: datetime | None
    created_at: datetime
    changed_at: datetime
    first_used_at: datetime | None
    trial_ends_at: datetime | None
    """The time at which a trial key stops being valid; None for every other key."""


@dataclass(frozen=True, slots=True)
class KeyUsage:
    """A key with its use: admitted requests on all stored days and on the current UTC day."""

    key: KeyRecord
    requests: int
    requests_today: int
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A newly created key. Its text exists only here."""

    key: ApiKey
    record: KeyRecord


@dataclass(frozen=True, slots=True)
class KeyUse:
    """Admitted requests of a key on one UTC day (`YYYY-MM-DD`), to be added to that day's count."""

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
    role: Role = Role.CALLER,
    max_class: SourceClass = KEYS_CLAIM,
    signer: str | None = None,
    claim_id: str | None = None,
    paid_until: datetime | None = None,
    key: ApiKey | None = None,
    sealed: str | None = None,
) -> IssuedKey:
    """Creates an active key of `owner`. A second unrevoked key of the same claim violates a constraint, and so does a
    claim's key of the role `operator`.

    Pass `key`, created with `new_key`, to be able to seal it before; `sealed` is its sealed text, which is stored until
    the key's first use.
    """
    return _insert(
        tx,
        pepper,
        key or new_key(tier),
        None,
        tier,
        owner,
        role,
        max_class,
        signer,
        claim_id,
        paid_until,
        sealed,
        now,
    )


def rotate_key(
    tx: Transaction, pepper: bytes, key_id: str, *, now: datetime, key: ApiKey | None = None, sealed: str | None = None
) -> IssuedKey:
    """Revokes a key and creates the next one of its family with its tier, owner, role, standing, claim, paid time,
    quota and suspension.

    Raises `KeyUnknown` if there is no such key, or if it is revoked and has not revoked itself.
    """
    current = find_key(tx, key_id)
    if current is None or (current.state is KeyState.REVOKED and tx.row("revoked_itself", key_id=key_id) is None):
        raise _unknown(key_id)
    revoke_key(tx, key_id, now=now)
    issued = _insert(
        tx,
        pepper,
        key or new_key(current.tier),
        current.family_id,
        current.tier,
        current.owner,
        current.role,
        current.max_class,
        current.signer,
        current.claim_id,
        current.paid_until,
        sealed,
        now,
    )
    if current.state is KeyState.SUSPENDED:
        suspend_key(tx, issued.record.key_id, now=now)
    return issued


def revoke_key(tx: Transaction, key_id: str, *, now: datetime) -> bool:
    """Makes a key invalid permanently. Returns False if it was revoked before. Raises `KeyUnknown`."""
    return _move(tx, key_id, (KeyState.ACTIVE, KeyState.SUSPENDED), KeyState.REVOKED, now)


def suspend_key(tx: Transaction, key_id: str, *, now: datetime) -> bool:
    """Makes an active key invalid until it is reinstated. Returns False if it was not active. Raises `KeyUnknown`."""
    return _move(tx, key_id, (KeyState.ACTIVE,), KeyState.SUSPENDED, now)


def reinstate_key(tx: Transaction, key_id: str, *, now: datetime) -> bool:
    """Makes a suspended key valid again. Returns False if it was not suspended. Raises `KeyUnknown`."""
    return _move(tx, key_id, (KeyState.SUSPENDED,), KeyState.ACTIVE, now)


def find_key(reader: Reader, key_id: str) -> KeyRecord | None:
    """Returns the key with this id in any state, or None."""
    row = reader.row("key", key_id=key_id)
    return None if row is None else record_of(KeyRecord, row)


def active_key(reader: Reader, pepper: bytes, presented: str) -> KeyRecord | None:
    """Returns the active key with this text, or None."""
    key = parse_key(presented)
    row = None if key is None else reader.row("key_by_digest", digest=key.digest(pepper))
    return None if row is None else find_key(reader, row["key_id"])


def alive_key_of_claim(reader: Reader, claim_id: str) -> KeyRecord | None:
    """Returns the unrevoked key of a claim, or None."""
    row = reader.row("alive_key_of_claim", claim_id=claim_id)
    return None if row is None else record_of(KeyRecord, row)


def replaceable_key_of_claim(reader: Reader, claim_id: str) -> KeyRecord | None:
    """Returns the newest key of a claim, unrevoked or revoked by itself; None if an operator revoked it."""
    row = reader.row("replaceable_key_of_claim", claim_id=claim_id)
    return None if row is None else record_of(KeyRecord, row)


def replaced_keys_of_claim(reader: Reader, claim_id: str, *, since: datetime, limit: int) -> list[KeyRecord]:
    """Returns the keys of a claim that were revoked since a time, latest revocation first."""
    rows = reader.rows("replaced_keys_of_claim", claim_id=claim_id, revoked_since=utc_text(since), limit=limit)
    return [record_of(KeyRecord, row) for row in rows]


def list_keys(reader: Reader, *, now: datetime) -> list[KeyUsage]:
    """Returns every key with its use, newest first. Requests of the last few seconds may not be counted yet."""
    return [record_of(KeyUsage, row, key=row) for row in reader.rows("keys", day=utc_day(now))]


def sealed_key(reader: Reader, key_id: str) -> str | None:
    """Returns the sealed text of a key, or None from its first use on."""
    row = reader.row("sealed_key", key_id=key_id)
    return None if row is None else str(row["sealed"])


def forget_sealed_keys(tx: Transaction, created_before: datetime) -> int:
    """Deletes the sealed texts of keys created earlier and returns their number."""
    return tx.run("forget_sealed_keys", created_before=utc_text(created_before))


def record_first_use(tx: Transaction, key_id: str, *, now: datetime) -> None:
    """Records a key's first use. It proves that the holder has the key, so its sealed text is deleted."""
    tx.run("record_first_key_use", key_id=key_id, first_used_at=utc_text(now))


def add_uses(tx: Transaction, uses: Iterable[KeyUse]) -> None:
    """Adds a batch of uses to their days and deletes days older than `USES_KEPT`.

    Uses don't change keys, so they don't go on the change feed.
    """
    newest = None
    for use in uses:
        tx.run("add_key_uses", **columns_of(use))
        newest = use.last_used_at if newest is None else max(newest, use.last_used_at)
    if newest is not None:
        tx.run("forget_key_uses_before", day=utc_day(newest - USES_KEPT))


def _insert(
    tx: Transaction,
    pepper: bytes,
    key: ApiKey,
    family_id: str | None,
    tier: Tier,
    owner: str,
    role: Role,
    max_class: SourceClass,
    signer: str | None,
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
        role=role.value,
        max_class=max_class.value,
        signer=signer,
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
    key = find_key(tx, key_id)
    if key is None:
        raise _unknown(key_id)
    if key.state not in allowed:
        return False
    tx.run("set_key_state", key_id=key_id, from_state=key.state.value, state=state.value, changed_at=utc_text(now))
    tx.changed(KEY_CHANGED, key_id)
    return True


def _unknown(key_id: str) -> KeyUnknown:
    return KeyUnknown(f"There is no unrevoked key {key_id}.", cure="`svc keys list` shows the ids of all keys.")
