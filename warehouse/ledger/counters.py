"""Rate and quota counters in fixed windows, exact over any number of processes: beside the ledger, and not part of it.

They bear being lost with a crash of the machine, so they pay for no fsync; they are in a request's way, so they go
through the raw driver.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import pysqlite3.dbapi2 as sqlite

from contracts.errors import OperatorProblem, StoreBusy, StoreUnusable
from contracts.settings import Settings
from warehouse.ledger.drivers import (
    assert_sqlite_version,
    create_private_file,
    driver_statement,
    problem_of,
    use_wal,
)

if TYPE_CHECKING:
    from sqlalchemy import URL

SQL = (Path(__file__).with_name("counters.sql"),)

KEEP_S = 120
"""How long a counter outlives its window: longer than the clocks of two hosts differ."""

_SWEEP_EVERY = 64
_SWEEP_SIZE = 256
"""Each sweep looks at more keys than can have come since the last one, so dead counters can't pile up."""

_ABOVE_ALL_KEYS = "\U0010ffff"
_MOST_REFUSALS_HELD = 50_000

_REMEMBER_FULL_S = 60
"""A take that another process gives back can be had again after so long."""

_REOPEN_EVERY_S = 5.0
"""A store that can't be opened is tried again after so long."""

_PAGE_BYTES = 1024
"""A take rewrites one page: with 1 KiB it costs 14 us, with SQLite's usual 4 KiB 18."""

_CHECKPOINT_PAGES = 8192
"""A checkpoint is the one moment that waits for the disk; 8 MiB of log hold some 7,000 takes."""

_SCHEMA_LOCK = 0x636F756E7465
"""Key of the PostgreSQL advisory lock under which the table is made."""


class Take(NamedTuple):
    """What came of asking for one: `remaining` of `limit` are left for the next `reset_s` seconds."""

    allowed: bool
    limit: int
    remaining: int
    reset_s: int


class CounterStore(Protocol):
    """Where counters are kept: runs a statement of `counters.sql` as a transaction of its own."""

    def fetch(self, question: str, parameters: dict[str, Any]) -> tuple[Any, ...] | None:
        """The one row it gives, if any. Raises `StoreBusy` or `StoreUnusable`."""

    def close(self) -> None: ...


class Counters:
    """Open with `open_counters`. Threads may share it; a forked process needs its own."""

    def __init__(self, store: CounterStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._refused: dict[str, tuple[int, int, float]] = {}
        self._takes = 0
        self._swept_until = ""

    def take(self, key: str, limit: int, window_s: int, now_s: float) -> Take:
        """Take one of `limit` (at least 1) in the window of `window_s` seconds that holds `now_s` (seconds since 1970).

        At most `limit` are allowed in a window over all processes, whose clocks may differ by less than a window. A
        key always comes with the same `window_s`. A refusal writes nothing, and from then on this process refuses from
        memory for a minute or until the window ends. Raises `StoreBusy` or `StoreUnusable`.
        """
        window_end_s = (int(now_s) // window_s + 1) * window_s
        reset_s = math.ceil(window_end_s - now_s)
        full = self._refused.get(key)
        # a larger limit has to ask again: the key may have moved to a better plan
        if full is not None and full[0] == window_end_s and limit <= full[1] and now_s < full[2]:
            return Take(False, limit, 0, reset_s)
        with self._lock:
            self._takes += 1
            if self._takes % _SWEEP_EVERY == 0:
                self._sweep(now_s)
            taken = self._store.fetch(
                "take", {"key": key, "limit": limit, "window_s": window_s, "window_end_s": window_end_s}
            )
            if taken is None:
                self._remember_full(key, limit, window_end_s, now_s)
                return Take(False, limit, 0, reset_s)
            used, counted_until_s = taken
            if used >= limit:
                self._remember_full(key, limit, window_end_s, now_s)
        return Take(True, limit, limit - used, math.ceil(counted_until_s - now_s))

    def give_back(self, key: str, now_s: float) -> None:
        """Undo a take of the present window that came to nothing. Raises `StoreBusy` or `StoreUnusable`."""
        with self._lock:
            self._store.fetch("give_back", {"key": key, "now_s": int(now_s)})
            self._refused.pop(key, None)

    def close(self) -> None:
        """Close the store. The counters can't be used any more."""
        with self._lock:
            self._store.close()

    def _remember_full(self, key: str, limit: int, window_end_s: int, now_s: float) -> None:
        if len(self._refused) >= _MOST_REFUSALS_HELD:
            self._refused = {k: held for k, held in self._refused.items() if held[0] > now_s}
            if len(self._refused) >= _MOST_REFUSALS_HELD:
                self._refused = {}
        self._refused[key] = (window_end_s, limit, now_s + _REMEMBER_FULL_S)

    def _sweep(self, now_s: float) -> None:
        """Delete what has long ended in the next slice of keys, going round and round."""
        after = self._swept_until
        row = self._store.fetch("slice_end", {"after": after, "size": _SWEEP_SIZE})
        until = _ABOVE_ALL_KEYS if row is None else str(row[0])
        self._store.fetch("sweep", {"after": after, "until": until, "ended_s": int(now_s) - KEEP_S})
        self._swept_until = "" if row is None else until


def open_counters(settings: Settings, data_dir: Path, *, wait_s: float = 2.0) -> Counters:
    """Open the counters beside the ledger that the settings name: `counters.db`, or an unlogged PostgreSQL table.

    Raises `SettingsInvalid`, `StoreBusy`, `StoreUnusable`.
    """
    if settings.ledger_url is None:
        return Counters(_SqliteStore(data_dir / "counters.db", wait_s))
    from warehouse.ledger.engine import postgresql_address  # only here: SQLAlchemy takes half a second of a start

    return Counters(_PostgresqlStore(postgresql_address(settings.ledger_url), wait_s))


def open_counters_when_possible(settings: Settings, data_dir: Path, *, wait_s: float) -> Counters:
    """As `open_counters`, but where the store can't be used now a take raises that, and later ones try again.

    So a service whose store is away or read-only starts, and serves what is published. Raises `SettingsInvalid`.
    """
    try:
        return open_counters(settings, data_dir, wait_s=wait_s)
    except (StoreBusy, StoreUnusable) as problem:
        logging.getLogger(__name__).warning("Requests are not counted yet: %s", problem)
        return Counters(_AbsentStore(lambda: open_counters(settings, data_dir, wait_s=wait_s)._store, problem))


class _AbsentStore:
    """Stands for a store that could not be opened, until it can."""

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


class _SqliteStore:
    def __init__(self, path: Path, wait_s: float) -> None:
        assert_sqlite_version()
        create_private_file(path)
        self._name = f"The counter store {path}"
        self._connection = sqlite.connect(str(path), timeout=wait_s, isolation_level=None, check_same_thread=False)
        try:
            self._connection.execute(f"pragma page_size = {_PAGE_BYTES}")
            use_wal(self._connection, wait_s)
            self._connection.execute("pragma synchronous = normal")
            self._connection.execute(f"pragma wal_autocheckpoint = {_CHECKPOINT_PAGES}")
            self._connection.execute(driver_statement(SQL, "schema", "sqlite"))
        except sqlite.Error as error:
            self._connection.close()
            raise self._problem(error) from error

    def fetch(self, question: str, parameters: dict[str, Any]) -> tuple[Any, ...] | None:
        try:
            row: tuple[Any, ...] | None = self._connection.execute(
                driver_statement(SQL, question, "sqlite"), parameters
            ).fetchone()
        except sqlite.Error as error:
            raise self._problem(error) from error
        return row

    def close(self) -> None:
        self._connection.close()

    def _problem(self, error: sqlite.Error) -> Exception:
        problem: Exception = problem_of(self._name, error) or error
        if isinstance(problem, StoreUnusable) and str(error.sqlite_errorname).startswith(
            ("SQLITE_CORRUPT", "SQLITE_NOTADB")
        ):
            return StoreUnusable(
                problem.what, cure="Stop the service and delete the file: it holds nothing but counters."
            )
        return problem


class _PostgresqlStore:
    def __init__(self, url: URL, wait_s: float) -> None:
        from warehouse.ledger.raw_postgresql import RawPostgresql

        name = f"The counter store {url.render_as_string(hide_password=True)}"
        self._raw = RawPostgresql(url, name, wait_s, SQL)
        # a take that was counted when PostgreSQL went away counts twice, which allows too few
        self.fetch = self._raw.fetch
        self.close = self._raw.close
        self._raw.set_up(_SCHEMA_LOCK, "schema")
