"""Connections to the ledger's database, SQLite or PostgreSQL, and what their failures mean to an operator.

What the two engines do differently is decided here, in `ledger_schema.py` and in files named `<name>.postgresql.sql`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pysqlite3.dbapi2 as sqlite
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from contracts.errors import OperatorProblem, SettingsInvalid, StoreBusy, StoreUnusable

OLDEST_SQLITE = (3, 51, 3)
"""Earlier ones can lose a WAL checkpoint that races with a writer's reset of the log."""

WRITES = "ledger_writes"
"""Execution option of a connection whose transactions write."""

CONNECT_ARGUMENTS: dict[str, Any] = {"connect_timeout": 5, "application_name": "svc"}
"""Of every PostgreSQL connection; seconds until an address that does not answer counts as unreachable."""

_POOL_SIZE = 5
_IDLE_IN_TRANSACTION_S = 60

_REACH_CURE = "Check that PostgreSQL runs and that SVC_LEDGER_URL has the right host, user, password and database."
_BUSY_CURE = "Find the process that keeps it locked; nothing was written, so the same step can be tried again."


def assert_sqlite_version() -> None:
    """Raise `StoreUnusable` where the driver brings an SQLite older than `OLDEST_SQLITE`."""
    if sqlite.sqlite_version_info < OLDEST_SQLITE:
        oldest = ".".join(map(str, OLDEST_SQLITE))
        raise StoreUnusable(
            f"SQLite {sqlite.sqlite_version} is older than {oldest}.",
            cure="Rebuild .venv from requirements.lock: its pysqlite3 wheel brings a newer one.",
        )


def ledger_location(ledger_url: str | None, data_dir: Path) -> URL | Path:
    """The PostgreSQL address that the settings name, else the SQLite file. Raises `SettingsInvalid`."""
    if ledger_url is None:
        return data_dir / "ledger.db"
    try:
        url = make_url(ledger_url)
    except ArgumentError:
        url = None
    if url is None or url.drivername != "postgresql+psycopg":
        raise SettingsInvalid(
            "SVC_LEDGER_URL is not a PostgreSQL address.",
            cure="Write it as postgresql+psycopg://USER:PASSWORD@HOST/DATABASE, or leave it unset for SQLite.",
        )
    return url


def sqlite_engine(path: Path, wait_s: float) -> Engine:
    """WAL, synchronous=FULL, foreign keys; a write transaction takes the write lock at its start, waiting `wait_s`."""
    assert_sqlite_version()
    create_private_file(path)
    engine = create_engine(f"sqlite:///{path}", module=sqlite, pool_size=_POOL_SIZE, connect_args={"timeout": wait_s})

    @event.listens_for(engine, "connect")
    def _set_up(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # the driver would begin and commit on its own, and lazily
        use_wal(connection, wait_s)
        connection.execute("pragma synchronous = full")
        connection.execute("pragma foreign_keys = on")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(WRITES, False)
        connection.exec_driver_sql(f"pragma query_only = {'off' if writes else 'on'}")
        # a deferred transaction that turns into a writer fails at once when another wrote since it began
        connection.exec_driver_sql("begin immediate" if writes else "begin")

    return engine


def postgresql_engine(url: URL, wait_s: float) -> Engine:
    """A bounded pool; a lock is waited for `wait_s`, and a transaction left idle is ended by the server."""
    engine = create_engine(
        url,
        pool_size=_POOL_SIZE,
        max_overflow=_POOL_SIZE,
        pool_timeout=wait_s,
        pool_pre_ping=True,
        connect_args=CONNECT_ARGUMENTS,
    )

    @event.listens_for(engine, "connect")
    def _set_up(connection: Any, _record: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"set lock_timeout = {round(wait_s * 1000)}")
            cursor.execute(f"set idle_in_transaction_session_timeout = {_IDLE_IN_TRANSACTION_S * 1000}")
        connection.commit()

    return engine


def create_private_file(path: Path) -> None:
    """Make the database file and its directory, readable by its owner alone. Raises `StoreUnusable`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        with path.open("r+b"):
            pass
    except OSError as error:
        raise StoreUnusable(
            f"{path} can't be written: {error.strerror}.",
            cure="Give this user write access to the directory, or set SVC_DATA_DIR to another one.",
        ) from error


def use_wal(connection: Any, wait_s: float) -> None:
    """Switch the file to WAL. SQLite calls no busy handler here, so processes that start together wait in a loop."""
    deadline = time.monotonic() + wait_s
    while True:
        try:
            connection.execute("pragma journal_mode = wal").fetchone()
            return
        except sqlite.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() >= deadline:
                raise
            time.sleep(0.01)


@contextmanager
def failures_named(store: str) -> Iterator[None]:
    """Turn what the driver raises for a busy, unreachable, full or damaged `store` into an `OperatorProblem`.

    Errors that a program makes (a broken constraint, bad SQL) pass as they are.
    """
    try:
        yield
    except PoolTimeout as error:
        raise StoreBusy(f"All connections to {store} are in use.", cure=_BUSY_CURE) from error
    except DBAPIError as error:
        problem = None if error.orig is None else problem_of(store, error.orig)
        if problem is None:
            raise
        raise problem from error
    except sqlite.Error as error:
        problem = problem_of(store, error)
        if problem is None:
            raise
        raise problem from error


def problem_of(store: str, error: BaseException) -> OperatorProblem | None:
    """The operator's view of a driver's error, or None where it is the program's own fault."""
    name = str(getattr(error, "sqlite_errorname", None) or "")
    for prefix, what, cure in _SQLITE_PROBLEMS:
        if name.startswith(prefix):
            return StoreUnusable(f"{store} {what}.", cure=cure)
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreBusy(f"{store} stayed locked by another writer.", cure=_BUSY_CURE)
    if not hasattr(error, "sqlstate"):
        return None
    if error.sqlstate is None and type(error).__name__ == "OperationalError":
        # psycopg's, by its name: importing it would cost every start on SQLite 0.1 s
        reason = (str(error).splitlines() or ["no reason given"])[0].rpartition("failed: ")[2]
        return StoreUnusable(f"{store} can't be reached: {reason}.", cure=_REACH_CURE)
    state = str(error.sqlstate or "")
    for prefix, what, cure in _POSTGRESQL_PROBLEMS:
        if state.startswith(prefix):
            return StoreUnusable(f"{store} {what}.", cure=cure)
    if state == "55P03":
        return StoreBusy(f"{store} stayed locked by another writer.", cure=_BUSY_CURE)
    return None


_SQLITE_PROBLEMS = (
    ("SQLITE_CORRUPT", "is damaged", "Move it aside with its -wal and -shm files and restore a backup."),
    ("SQLITE_NOTADB", "is not an SQLite database", "Move it aside and restore a backup, or start with a new one."),
    ("SQLITE_READONLY", "is read-only", "Give this user write access to the file and its directory."),
    ("SQLITE_CANTOPEN", "can't be opened", "Give this user write access to the file and its directory."),
    ("SQLITE_PERM", "can't be opened", "Give this user write access to the file and its directory."),
    ("SQLITE_FULL", "has no room left", "Free some disk space; nothing half-written was kept."),
    ("SQLITE_IOERR", "can't be read or written on this disk", "Check the disk; nothing half-written was kept."),
)

_POSTGRESQL_PROBLEMS = (
    ("57P", "ended the connection", "Wait until PostgreSQL is up again and try once more."),
    ("25P03", "ended a transaction that was left idle", "Try again; nothing was written."),
    ("25006", "is read-only", "Point SVC_LEDGER_URL at the primary."),
    ("42501", "lacks a permission", "Let the user of SVC_LEDGER_URL create and write tables there."),
    ("53", "has no room or connections left", "Free disk space or raise max_connections."),
    ("XX001", "is damaged", "Restore a backup."),
)
