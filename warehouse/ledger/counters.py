"""Counts requests for rates and quotas in fixed windows, exactly over any number of processes and hosts. The counters
are stored next to the ledger.

Every request waits for them, so they use the raw driver and no fsync. When a PostgreSQL server crashes, windows of a
minute are lost, and longer ones (a key's day) lose the last fraction of a second: they are in a logged table that is
committed asynchronously.
"""

import logging
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from contracts.errors import OperatorProblem, StoreBusy, StoreUnusable
from contracts.settings import Settings
from warehouse.ledger.raw_store import RawStore, open_raw_store
from warehouse.ledger.server_clock import SQL as SERVER_CLOCK_SQL
from warehouse.ledger.server_clock import ServerClock

RATES_SQL = (Path(__file__).with_name("counters.sql"), Path(__file__).with_name("rates.sql"), SERVER_CLOCK_SQL)
QUOTAS_SQL = (Path(__file__).with_name("counters.sql"), Path(__file__).with_name("quotas.sql"))

LONGEST_RATE_WINDOW_S = 60
"""Longer windows must survive a crash of the server."""

KEEP_S = 120
"""The time for which a counter outlives its window: longer than the difference that two hosts' clocks may have."""

_SWEEP_EVERY = 64
_SWEEP_SIZE = 256
"""Each sweep checks more keys than can have been added since the last one, so ended counters can't pile up."""

_ABOVE_ALL_KEYS = "\U0010ffff"
_MOST_REFUSALS_HELD = 50_000

_REMEMBER_FULL_S = 60
"""Seconds after which this process can use a take that another process gave back."""

_REOPEN_EVERY_S = 5.0
"""Seconds between attempts to open a store that could not be opened."""

_PAGE_BYTES = 1024
"""A take rewrites one page: it costs 14 us with pages of 1 KiB and 18 us with SQLite's usual 4 KiB."""

_CHECKPOINT_PAGES = 8192
"""Only a checkpoint waits for the disk; 8 MiB of log contain some 7,000 takes."""

_SCHEMA_LOCK = 0x636F756E7465
"""Key of the PostgreSQL advisory lock under which the table is created."""


class Take(NamedTuple):
    """The result of a take: `remaining` of `limit` are left for the next `reset_s` seconds."""

    allowed: bool
    limit: int
    remaining: int
    reset_s: int


class CounterStore(Protocol):
    """The subset of `RawStore` that counting uses."""

    def fetch(self, question: str, parameters: dict[str, Any]) -> tuple[Any, ...] | None: ...

    def close(self) -> None: ...


@dataclass
class _Table:
    """A table of counters, with the number of takes from it and the key up to which it is swept."""

    store: CounterStore
    takes: int = 0
    swept_until: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def fetch(self, question: str, parameters: dict[str, Any]) -> tuple[Any, ...] | None:
        with self.lock:
            return self.store.fetch(question, parameters)


class Counters:
    """Counts takes. Create it with `open_counters`. Threads may share it; a forked process needs its own counters.

    `quotas` counts windows longer than a minute, if they have a separate store. `clock` is the one that all hosts
    share, if there is one.
    """

    def __init__(
        self, store: CounterStore, quotas: CounterStore | None = None, clock: ServerClock | None = None
    ) -> None:
        self._rates = _Table(store)
        self._quotas = self._rates if quotas is None else _Table(quotas)
        self._clock = clock
        self._refused: dict[str, tuple[int, int, float]] = {}

    def now_s(self) -> float:
        """Returns the time (seconds since 1970) that all hosts agree on."""
        return time.time() if self._clock is None else self._clock.now_s()

    def keep_time(self) -> None:
        """Queries that time unless it was queried recently; every take does so too. Raises what `take` raises."""
        if self._clock is not None:
            self._clock.keep_right()

    def take(self, key: str, limit: int, window_s: int, now_s: float) -> Take:
        """Takes one of `limit` (at least 1) in the window of `window_s` seconds around `now_s` (seconds since 1970).

        At most `limit` takes are allowed per window over all processes, whose clocks may differ by less than a window.
        A key must always be used with the same `window_s`. A refusal writes nothing; afterwards this process refuses
        from memory for a minute or until the window ends. Raises `StoreBusy` or `StoreUnusable`.
        """
        window_end_s = (int(now_s) // window_s + 1) * window_s
        reset_s = math.ceil(window_end_s - now_s)
        full = self._refused.get(key)
        # A larger limit must query the store again: the key may have moved to a better plan.
        if full is not None and full[0] == window_end_s and limit <= full[1] and now_s < full[2]:
            return Take(False, limit, 0, reset_s)
        self.keep_time()
        table = self._table(window_s)
        with table.lock:
            table.takes += 1
            if table.takes % _SWEEP_EVERY == 0:
                _sweep(table, now_s)
            row = table.store.fetch(
                "take", {"key": key, "limit": limit, "window_s": window_s, "window_end_s": window_end_s}
            )
            if row is None:
                self._remember_full(key, limit, window_end_s, now_s)
                return Take(False, limit, 0, reset_s)
            used, counted_until_s = row
            if used >= limit:
                self._remember_full(key, limit, window_end_s, now_s)
        return Take(True, limit, limit - used, math.ceil(counted_until_s - now_s))

    def taken(self, key: str, window_s: int, now_s: float) -> int:
        """Returns the number of takes of a key in the window around `now_s`. Raises `StoreBusy` or `StoreUnusable`."""
        window_end_s = (int(now_s) // window_s + 1) * window_s
        row = self._table(window_s).fetch("taken", {"key": key})
        return int(row[0]) if row is not None and row[1] >= window_end_s else 0

    def give_back(self, key: str, window_s: int, now_s: float) -> None:
        """Undoes a take of the current window that was not used. Raises `StoreBusy` or `StoreUnusable`."""
        table = self._table(window_s)
        with table.lock:
            table.store.fetch("give_back", {"key": key, "now_s": int(now_s)})
            self._refused.pop(key, None)

    def close(self) -> None:
        for table in (self._rates, self._quotas):
            with table.lock:
                table.store.close()

    def _table(self, window_s: int) -> _Table:
        return self._rates if window_s <= LONGEST_RATE_WINDOW_S else self._quotas

    def _remember_full(self, key: str, limit: int, window_end_s: int, now_s: float) -> None:
        if len(self._refused) >= _MOST_REFUSALS_HELD:
            self._refused = {name: refusal for name, refusal in self._refused.items() if refusal[0] > now_s}
            if len(self._refused) >= _MOST_REFUSALS_HELD:
                self._refused = {}
        self._refused[key] = (window_end_s, limit, now_s + _REMEMBER_FULL_S)


def _sweep(table: _Table, now_s: float) -> None:
    """Deletes long-ended counters in the next slice of keys, round robin. The caller holds the lock."""
    row = table.store.fetch("slice_end", {"after": table.swept_until, "size": _SWEEP_SIZE})
    until = _ABOVE_ALL_KEYS if row is None else str(row[0])
    table.store.fetch("sweep", {"after": table.swept_until, "until": until, "ended_s": int(now_s) - KEEP_S})
    table.swept_until = "" if row is None else until


def open_counters(settings: Settings, data_dir: Path, *, wait_s: float = 2.0) -> Counters:
    """Opens the counters next to the configured ledger: `counters.db`, or two PostgreSQL tables.

    Raises `SettingsInvalid`, `StoreBusy`, `StoreUnusable`.
    """
    counters = _counters(settings, lambda statements: _open_table(settings, data_dir, statements, wait_s))
    counters.keep_time()
    return counters


def _counters(settings: Settings, open_table: Callable[[tuple[Path, ...]], CounterStore]) -> Counters:
    rates = open_table(RATES_SQL)
    if settings.ledger_url is None:
        return Counters(rates)
    try:
        # If the connection breaks after PostgreSQL counted a take, the retry counts it twice. That allows too few
        # requests, never too many.
        return Counters(rates, open_table(QUOTAS_SQL), ServerClock(lambda: _server_time_s(rates)))
    except BaseException:
        rates.close()
        raise


def _open_table(settings: Settings, data_dir: Path, statements: tuple[Path, ...], wait_s: float) -> RawStore:
    return open_raw_store(
        settings,
        "The counter store",
        data_dir / "counters.db",
        statements,
        wait_s=wait_s,
        lock=_SCHEMA_LOCK,
        pragmas=(f"page_size = {_PAGE_BYTES}", f"wal_autocheckpoint = {_CHECKPOINT_PAGES}"),
        damaged_cure="Stop the service and delete the file: it contains only counters.",
        waits_for_disk=False,
    )


def _server_time_s(store: CounterStore) -> float:
    row = store.fetch("server_time", {})
    assert row is not None
    return float(row[0])


def open_counters_when_possible(settings: Settings, data_dir: Path, *, wait_s: float) -> Counters:
    """Opens the counters like `open_counters`, but tolerates a store that can't be used now: takes raise until one of
    them can open it.

    So a service whose store is unreachable or read-only starts and serves published documents. Raises
    `SettingsInvalid`.
    """
    try:
        return open_counters(settings, data_dir, wait_s=wait_s)
    except (StoreBusy, StoreUnusable) as problem:
        logging.getLogger(__name__).warning("Requests are not counted yet: %s", problem)
        reason: OperatorProblem = problem

    def open_later(statements: tuple[Path, ...]) -> CounterStore:
        return _AbsentStore(lambda: _open_table(settings, data_dir, statements, wait_s), reason)

    return _counters(settings, open_later)


class _AbsentStore:
    """Stands in for a store that could not be opened, until it can be."""

    def __init__(self, open_store: Callable[[], CounterStore], problem: OperatorProblem) -> None:
        self._open = open_store
        self._problem = problem
        self._next_try_s = time.monotonic() + _REOPEN_EVERY_S
        self._store: CounterStore | None = None

    def fetch(self, question: str, parameters: dict[str, Any]) -> tuple[Any, ...] | None:
        if self._store is None:
            self._reopen()
        assert self._store is not None
        return self._store.fetch(question, parameters)

    def close(self) -> None:
        if self._store is not None:
            self._store.close()

    def _reopen(self) -> None:
        now_s = time.monotonic()
        if now_s < self._next_try_s:
            raise self._problem
        self._next_try_s = now_s + _REOPEN_EVERY_S
        try:
            self._store = self._open()
        except OperatorProblem as problem:
            self._problem = problem
            raise
