"""Looks up whose key a request presents: one point read of the ledger through the raw driver, without a cache.

A key that is revoked, suspended or past its paid time is therefore invalid in every process from that commit on.
"""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from contracts.access.api_keys import parse_key
from contracts.access.tiers import Caller, Role, Tier
from contracts.settings import Settings
from contracts.standing import SourceClass
from warehouse.ledger.engine import ledger_location
from warehouse.ledger.ledger import SQL
from warehouse.ledger.raw_store import RawSqlite, RawStore


@dataclass(frozen=True, slots=True)
class FoundKey:
    """A valid key: its caller with the current tier, the family that shares its quota, and whether it was ever used."""

    caller: Caller
    family_id: str
    used_before: bool


class KeyLookup:
    """Looks up keys. Create it with `open_key_lookup`. Threads may share it; a forked process needs its own."""

    def __init__(self, store: RawStore, pepper: bytes) -> None:
        self._store = store
        self._pepper = pepper

    def find(self, presented: str, now_s: float) -> FoundKey | None:
        """Returns the key whose text is `presented` if it is active at `now_s` (seconds since 1970), else None.

        After its paid time a key has the free tier; a trial key is invalid after its end. Raises `StoreBusy`,
        `StoreUnusable`.
        """
        key = parse_key(presented)
        if key is None:
            return None
        row = self._store.fetch("key_by_digest", {"digest": key.digest(self._pepper)})
        if row is None:
            return None
        key_id, family_id, tier, owner, role, max_class, signer, paid_until, trial_ends_at, used = row
        ends_at = None if trial_ends_at is None else datetime.fromisoformat(trial_ends_at)
        if ends_at is not None and ends_at.timestamp() <= now_s:
            return None
        if paid_until is not None and datetime.fromisoformat(paid_until).timestamp() <= now_s:
            tier = Tier.FREE
        caller = Caller(key_id, owner, Tier(tier), Role(role), SourceClass(max_class), signer, ends_at)
        return FoundKey(caller, family_id, bool(used))

    def close(self) -> None:
        self._store.close()


def open_key_lookup(settings: Settings, pepper: bytes, *, wait_s: float = 1.0) -> KeyLookup:
    """Opens the keys of the configured ledger, which must have been opened before, and so created.

    Raises `SettingsInvalid`, `StoreBusy`, `StoreUnusable`.
    """
    location = ledger_location(settings.ledger_url, settings.data_dir)
    if isinstance(location, Path):
        return KeyLookup(RawSqlite(location, f"The ledger {location}", wait_s, SQL, ("query_only = on",)), pepper)
    from warehouse.ledger.raw_postgresql import RawPostgresql

    name = f"The ledger {location.render_as_string(hide_password=True)}"
    return KeyLookup(RawPostgresql(location, name, wait_s, SQL), pepper)
