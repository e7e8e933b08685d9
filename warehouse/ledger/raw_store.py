"""Runs short statements through the raw driver, for the stores next to the ledger that every request waits for."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import pysqlite3.dbapi2 as sqlite

from contracts.errors import StoreUnusable
from contracts.settings import Settings
from warehouse.ledger.drivers import (
    assert_sqlite_version,
    create_private_file,
    driver_statement,
    problem_of,
    scrub,
    use_wal,
)

Steps = Sequence[tuple[str, Sequence[dict[str, Any]]]]
"""Names of statements, each with the rows for which to execute it."""

Outdated = Callable[[frozenset[str]], Sequence[str]]
"""Returns the names of the steps that update a table with these columns."""


class RawStore(Protocol):
    """A store. Threads may share it. Every method raises `StoreBusy` or `StoreUnusable`."""

    def fetch(self, question: str, parameters: dict[str, Any]) -> tuple[Any, ...] | None:
        """Returns the statement's only row, or None."""

    def fetch_all(self, question: str, parameters: dict[str, Any]) -> list[tuple[Any, ...]]: ...

    def write(self, steps: Steps) -> None:
        """Executes the steps in one transaction, one at a time over all processes."""

    def scrub(self) -> None:
        """Removes all deleted content from the store's files."""

    def close(self) -> None: ...


def open_raw_store(
    settings: Settings,
    title: str,
    path: Path,
    statements: tuple[Path, ...],
    *,
    wait_s: float,
    lock: int,
    pragmas: Sequence[str] = (),
    damaged_cure: str | None = None,
    outdated: Outdated | None = None,
    waits_for_disk: bool = True,
) -> RawStore:
    """Opens a store next to the configured ledger, with its schema in place: the file `path`, or a PostgreSQL table.

    `title` is its name in errors; `lock` is the key of its PostgreSQL advisory lock; `outdated` gives the steps that
    update an SQLite file of an earlier version. With `waits_for_disk` false PostgreSQL answers before its log is on
    disk, as SQLite always does here. Raises `SettingsInvalid`, `StoreBusy`, `StoreUnusable`.
    """
    if settings.ledger_url is None:
        assert_sqlite_version()
        create_private_file(path)
        store = RawSqlite(path, f"{title} {path}", wait_s, statements, pragmas, damaged_cure)
        store.set_up("schema")
        if outdated is not None:
            store.upgrade(outdated)
        return store
    from warehouse.ledger.engine import postgresql_address  # importing SQLAlchemy adds half a second to a start
    from warehouse.ledger.raw_postgresql import RawPostgresql

    url = postgresql_address(settings.ledger_url)
    name = f"{title} {url.render_as_string(hide_password=True)}"
    raw = RawPostgresql(url, name, wait_s, statements, lock, waits_for_disk=waits_for_disk)
    raw.set_up("schema")
    return raw


class RawSqlite:
    """One connection to an SQLite file, which must exist. `damaged_cure` replaces the usual cure of a damaged file."""

    def __init__(
        self,
        path: Path,
        name: str,
        wait_s: float,
        statements: tuple[Path, ...],
        pragmas: Sequence[str],
        damaged_cure: str | None = None,
    ) -> None:
        self._name = name
        self._wait_s = wait_s
        self._statements = statements
        self._damaged_cure = damaged_cure
        self._lock = threading.Lock()
        self._connection = sqlite.connect(str(path), timeout=wait_s, isolation_level=None, check_same_thread=False)
        with self._closed_on_failure():
            for pragma in pragmas:
                self._connection.execute(f"pragma {pragma}")

    def set_up(self, step: str) -> None:
        """Switches the file to WAL without waiting for the disk at each commit, and runs a step."""
        with self._closed_on_failure():
            use_wal(self._connection, self._wait_s)
            self._connection.execute("pragma synchronous = normal")
            self._connection.execute(self._statement(step))

    def upgrade(self, outdated: Outdated) -> None:
        """Runs the steps that the file's table needs, judging by its columns. Another process may do so first."""
        with self._closed_on_failure():
            if not outdated(self._columns()):
                return
            self._connection.execute("begin immediate")
            try:
                for step in outdated(self._columns()):
                    self._connection.execute(self._statement(step))
                self._connection.execute("commit")
            except BaseException:
                self._connection.execute("rollback")
                raise

    def _columns(self) -> frozenset[str]:
        return frozenset(name for (name,) in self._connection.execute(self._statement("columns")))

    def fetch(self, question: str, parameters: dict[str, Any]) -> tuple[Any, ...] | None:
        with self._locked():
            row: tuple[Any, ...] | None = self._connection.execute(self._statement(question), parameters).fetchone()
        return row

    def fetch_all(self, question: str, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
        with self._locked():
            return list(self._connection.execute(self._statement(question), parameters).fetchall())

    def write(self, steps: Steps) -> None:
        with self._locked():
            self._connection.execute("begin immediate")
            try:
                for step, rows in steps:
                    self._connection.executemany(self._statement(step), rows)
                self._connection.execute("commit")
            except BaseException:
                self._connection.execute("rollback")
                raise

    def scrub(self) -> None:
        with self._locked():
            scrub(self._connection, self._name)

    def close(self) -> None:
        self._connection.close()

    def _statement(self, name: str) -> str:
        return driver_statement(self._statements, name, "sqlite")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            with self._lock:
                yield
        except sqlite.Error as error:
            raise self._problem(error) from error

    @contextmanager
    def _closed_on_failure(self) -> Iterator[None]:
        try:
            yield
        except sqlite.Error as error:
            self._connection.close()
            raise self._problem(error) from error

    def _problem(self, error: sqlite.Error) -> Exception:
        problem: Exception = problem_of(self._name, error) or error
        damaged = str(error.sqlite_errorname).startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB"))
        if self._damaged_cure is not None and damaged and isinstance(problem, StoreUnusable):
            return StoreUnusable(problem.what, cure=self._damaged_cure)
        return problem
