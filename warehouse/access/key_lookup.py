"""Looks up whose key a request presents: one point read of the ledger through the raw driver, without a cache.

A key that is revoked, suspended or past its paid time is therefore invalid in every process from that commit on.
"""

import threading
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

import pysqlite3.dbapi2 as sqlite

from contracts.access.api_keys import parse_key
from contracts.access.tiers import Caller, Role, Tier
from contracts.settings import Settings
from warehouse.ledger.drivers import driver_statement, problem_of
from warehouse.ledger.engine import ledger_location
from warehouse.ledger.ledger import SQL


@dataclass(frozen=True, slots=True)
class FoundKey:
    """A valid key: its caller with the current tier, the family that shares its quota, and whether it was used."""

    caller: Caller
    family_id: str
    used_before: bool


class KeyStore(Protocol):
    """Runs a statement of the ledger in its own transaction to look up a key."""

    def fetch(self, question: str, parameters: dict[str, Any]) -> tuple[Any, ...] | None:
        """Returns the statement's only row, or None. Raises `StoreBusy` or `StoreUnusable`."""

    def close(self) -> None: ...


class KeyLookup:
    """Looks up keys. Create it with `open_key_lookup`. Threads may share it; a forked process needs its own."""

    def __init__(self, store: KeyStore, pepper: bytes) -> None:
        self._store = store
        self._pepper = pepper

    def find(self, presented: str, now_s: float) -> FoundKey | None:
        """Returns the active key that `presented` is at `now_s` (seconds since 1970), or None for any other text.

        After its paid time a key has the free tier. Raises `StoreBusy`, `StoreUnusable`.
        """
        key = parse_key(presented)
        if key is None:
            return None
        row = self._store.fetch("key_by_digest", {"digest": key.digest(self._pepper)})
        if row is None:
            return None
        key_id, family_id, tier, owner, role, paid_until, used = row
        if paid_until is not None and datetime.fromisoformat(paid_until).timestamp() <= now_s:
            tier = Tier.FREE
        return FoundKey(Caller(key_id, owner, Tier(tier), Role(role)), family_id, bool(used))

    def close(self) -> None:
        """Closes the store. No key can be looked up any more."""
        self._store.close()


def open_key_lookup(settings: Settings, pepper: bytes, *, wait_s: float = 1.0) -> KeyLookup:
    """Opens the keys of the configured ledger, which must have been opened, and so created, before.

    Raises `SettingsInvalid`, `StoreBusy`, `StoreUnusable`.
    """
    location = ledger_location(settings.ledger_url, settings.data_dir)
    if isinstance(location, Path):
        return KeyLookup(_SqliteKeys(location, wait_s), pepper)
    from warehouse.ledger.raw_postgresql import RawPostgresql

    name = f"The ledger {location.render_as_string(hide_password=True)}"
    return KeyLookup(RawPostgresql(location, name, wait_s, SQL), pepper)


class _SqliteKeys:
    def __init__(self, path: Path, wait_s: float) -> None:
        self._name = f"The ledger {path}"
        self._lock = threading.Lock()
        self._connection = sqlite.connect(str(path), timeout=wait_s, isolation_level=None, check_same_thread=False)
        try:
            self._connection.execute("pragma query_only = on")
        except sqlite.Error as error:
            self._connection.close()
            raise (problem_of(self._name, error) or error) from error

    def fetch(self, question: str, parameters: dict[str, Any]) -> tuple[Any, ...] | None:
        try:
            with self._lock:
                row: tuple[Any, ...] | None = self._connection.execute(
                    driver_statement(SQL, question, "sqlite"), parameters
                ).fetchone()
        except sqlite.Error as error:
            raise (problem_of(self._name, error) or error) from error
        return row

    def close(self) -> None:
        self._connection.close()
