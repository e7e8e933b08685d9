"""Authenticates API keys and enforces their daily quota, and the per-minute limit of paired sessions. Called by the
front before routing.

Quotas are counted in the counter store per key family and UTC day, exactly across all workers. Usage figures for
operators are collected in memory and written to the ledger every few seconds; a crash loses the last seconds.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from contracts.access.tiers import Caller, quota_counter
from contracts.access.trial_plan import requests_a_day
from contracts.connect.server import SESSION_REQUESTS_A_MINUTE
from contracts.connect.tokens import is_token
from contracts.errors import InternalFault, OperatorProblem, StoreUnavailable

if TYPE_CHECKING:
    from api.stores import Stores
    from warehouse.access.key_lookup import FoundKey, KeyLookup
    from warehouse.ledger.counters import Counters, Take

CALLER = "svc.caller"
"""Scope key of a valid key's `Caller`, or of `STORE_FAILED` if keys could not be looked up; otherwise absent."""

STORE_FAILED = "store failed"

DAY_S = 86_400
MINUTE_S = 60
WRITE_USES_EVERY_S = 5.0

_log = logging.getLogger(__name__)


class Admission(NamedTuple):
    """A valid key's caller and the result of counting one request; `taken` is None if its tier has no limit."""

    caller: Caller
    quota_key: str
    taken: Take | None


def is_counted(status: int, work_began: bool) -> bool:
    """Decides whether an answer counts against its key's day: if work began or the service failed, unless a store was
    unavailable."""
    return status != StoreUnavailable.status and (work_began or status >= InternalFault.status)


def presented_key(authorization: Iterable[bytes], x_api_key: Iterable[bytes]) -> str | None:
    """Returns the key in a request's header values, or None unless there is exactly one."""
    keys = {value.strip() for value in x_api_key}
    for value in authorization:
        scheme, _, token = value.strip().partition(b" ")
        if scheme.lower() != b"bearer":
            return None
        keys.add(token.strip())
    return keys.pop().decode("latin-1") if len(keys) == 1 else None


class KeyGate:
    """Admits keys. One object per process. The first request with a key opens its stores."""

    def __init__(self, stores: Stores, counters: Counters) -> None:
        self._stores = stores
        self._counters = counters
        self._waits = stores.settings.ledger_url is not None
        self._opening = threading.Lock()
        self._lock = threading.Lock()
        self._lookup: KeyLookup | None = None
        self._uses: dict[tuple[str, int], tuple[int, float]] = {}
        self._timer: threading.Timer | None = None

    async def admit(self, presented: str, now_s: float, *, counts: bool = True) -> Admission | None:
        """Takes one request from the key's day if `counts`. Returns None if the key is invalid.

        Raises `OperatorProblem`.
        """
        if self._waits or self._lookup is None:
            key, take = await asyncio.to_thread(self._look_up_and_take, presented, now_s, counts)
        else:
            key, take = self._look_up_and_take(presented, now_s, counts)
        if key is None:
            return None
        if take is None or take.allowed:
            if not key.used_before:
                await asyncio.to_thread(self._record_first_use, key.caller.key_id, now_s)
            if counts:
                self._note_use(key.caller.key_id, now_s)
        return Admission(key.caller, quota_counter(key.family_id), take)

    async def give_back(self, admission: Admission, now_s: float) -> None:
        """Undoes what `admit` took, for a request that should not count."""
        if admission.taken is None:
            return
        try:
            if self._waits:
                await asyncio.to_thread(self._counters.give_back, admission.quota_key, DAY_S, now_s)
            else:
                self._counters.give_back(admission.quota_key, DAY_S, now_s)
        except OperatorProblem as problem:
            _log.warning("A request that should not count remains counted: %s", problem)

    async def take_of_session(self, token: str, now_s: float) -> Take | None:
        """Takes one request from a paired session's minute. Returns None if the token opens no session. Raises
        `OperatorProblem`."""
        if not is_token(token):
            return None
        return await asyncio.to_thread(self._take_of_session, token, now_s)

    def write_uses(self) -> None:
        """Writes the collected uses to the ledger. If that fails, it keeps them for the next attempt."""
        from warehouse.access.keys import KeyUse, add_uses

        with self._lock:
            self._timer = None
            collected, self._uses = self._uses, {}
        if not collected:
            return
        uses = [
            KeyUse(key_id, f"{last:%Y-%m-%d}", requests, last)
            for (key_id, _), (requests, last_s) in collected.items()
            for last in (datetime.fromtimestamp(last_s, UTC),)
        ]
        try:
            with self._stores.ledger.transaction() as tx:
                add_uses(tx, uses)
        except OperatorProblem as problem:
            _log.warning("The use of %d keys is not written yet: %s", len(uses), problem)
            with self._lock:
                for key, (requests, last_s) in collected.items():
                    newer = self._uses.get(key, (0, 0.0))
                    self._uses[key] = (newer[0] + requests, max(newer[1], last_s))

    def close(self) -> None:
        """Writes the collected uses and closes the lookup."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
        self.write_uses()
        if self._lookup is not None:
            self._lookup.close()

    def _look_up_and_take(self, presented: str, now_s: float, counts: bool) -> tuple[FoundKey | None, Take | None]:
        key = self._opened_lookup().find(presented, now_s)
        if key is None or not counts:
            return key, None
        limit = requests_a_day(key.caller.tier, key.caller.trial_ends_at)
        return key, None if limit is None else self._counters.take(quota_counter(key.family_id), limit, DAY_S, now_s)

    def _take_of_session(self, token: str, now_s: float) -> Take | None:
        from warehouse.connect.sessions import find_session

        pepper = self._stores.secrets.pepper
        with self._stores.ledger.read() as reader:
            session = find_session(reader, pepper, token)
        if session is None or not session.is_open(datetime.fromtimestamp(now_s, UTC)):
            return None
        return self._counters.take(f"session:{session.session_id}", SESSION_REQUESTS_A_MINUTE, MINUTE_S, now_s)

    def _opened_lookup(self) -> KeyLookup:
        if self._lookup is None:
            from warehouse.access.key_lookup import open_key_lookup

            with self._opening:
                if self._lookup is None:
                    pepper = self._stores.secrets.pepper
                    self._stores.ledger  # noqa: B018 - opening it creates and migrates the table of the lookup
                    self._lookup = open_key_lookup(self._stores.settings, pepper)
        return self._lookup

    def _record_first_use(self, key_id: str, now_s: float) -> None:
        from warehouse.access.keys import record_first_use

        try:
            with self._stores.ledger.transaction() as tx:
                record_first_use(tx, key_id, now=datetime.fromtimestamp(now_s, UTC))
        except OperatorProblem as problem:
            # The next use tries again.
            _log.warning("The first use of key %s is not recorded yet: %s", key_id, problem)

    def _note_use(self, key_id: str, now_s: float) -> None:
        used = (key_id, int(now_s // DAY_S))
        with self._lock:
            self._uses[used] = (self._uses.get(used, (0, 0.0))[0] + 1, now_s)
            if self._timer is None:
                self._timer = threading.Timer(WRITE_USES_EVERY_S, self.write_uses)
                self._timer.daemon = True
                self._timer.start()
