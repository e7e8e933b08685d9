"""Helpers that ledger and counters share, independent of SQLAlchemy's engines: files, SQL text, and the translation of
drivers' errors for operators.

This module does not import SQLAlchemy, because the counters are opened before the API's first answer.
"""

import re
import time
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pysqlite3.dbapi2 as sqlite

from contracts.errors import OperatorProblem, StoreBusy, StoreUnusable
from warehouse.file_modes import make_data_directory
from warehouse.full_disk import free_space, is_full
from warehouse.statements import dialect_statement

OLDEST_SQLITE = (3, 51, 3)
"""Earlier versions can lose a WAL checkpoint that races with a writer's reset of the log file."""

CONNECT_ARGUMENTS: dict[str, Any] = {"connect_timeout": 5, "application_name": "svc"}
"""Arguments of every PostgreSQL connection; after `connect_timeout` seconds a silent address counts as unreachable."""

_REACH_CURE = (
    "Check that PostgreSQL is running and that SVC_LEDGER_URL has the right host, user, password and database."
)
BUSY_CURE = "Find the process that keeps it locked; nothing was written, so the same step can be tried again."


@cache
def driver_statement(files: tuple[Path, ...], name: str, dialect: str) -> str:
    """Returns the block `name` of `files`, with parameters in the style of the dialect's driver."""
    statement = dialect_statement(files, name, dialect)
    # A colon after a letter or digit belongs to a quoted instant, not to a parameter.
    return re.sub(r"(?<!\w):(\w+)", r"%(\1)s", statement) if dialect == "postgresql" else statement


def assert_sqlite_version() -> None:
    """Raises `StoreUnusable` if the driver includes an SQLite older than `OLDEST_SQLITE`."""
    if sqlite.sqlite_version_info < OLDEST_SQLITE:
        oldest = ".".join(map(str, OLDEST_SQLITE))
        raise StoreUnusable(
            f"SQLite {sqlite.sqlite_version} is older than {oldest}.",
            cure="Rebuild .venv from requirements.lock: its pysqlite3 wheel brings a newer one.",
        )


def create_private_file(path: Path) -> None:
    """Creates the database file in a data directory, readable only by its owner. Raises `StoreUnusable`."""
    try:
        make_data_directory(path.parent)
        path.touch(mode=0o600)
        with path.open("r+b"):
            pass
    except OSError as error:
        access = "Give this user write access to the directory, or set SVC_DATA_DIR to another one."
        raise StoreUnusable(
            f"{path} can't be written: {error.strerror}.",
            cure=free_space(path.parent) if is_full(path, error) else access,
        ) from error


def use_wal(connection: Any, wait_s: float) -> None:
    """Switches the file to WAL. SQLite calls no busy handler here, so processes that start together retry in a loop."""
    deadline = time.monotonic() + wait_s
    while True:
        try:
            connection.execute("pragma journal_mode = wal").fetchone()
            return
        except sqlite.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() >= deadline:
                raise
            time.sleep(0.01)


def scrub(connection: Any, store: str) -> None:
    """Rewrites an SQLite database without deleted content and empties its write-ahead log.

    Raises `StoreBusy` if a reader keeps the log in use, and the driver's errors.
    """
    connection.execute("pragma secure_delete = on")
    connection.execute("vacuum")
    busy, *_ = connection.execute("pragma wal_checkpoint(truncate)").fetchone()
    if busy:
        raise StoreBusy(f"{store} is being read, so its write-ahead log can't be emptied.", cure=BUSY_CURE)


def scrub_file(path: Path, wait_s: float) -> None:
    """Scrubs an SQLite database that other programs write, such as Dagster's. Raises `StoreBusy`, `StoreUnusable`."""
    store = f"The database {path}"
    try:
        with closing(sqlite.connect(str(path), timeout=wait_s, isolation_level=None)) as connection:
            scrub(connection, store)
    except sqlite.Error as error:
        raise (problem_of(store, error) or error) from error


def check_file(path: Path) -> None:
    """Checks by reading its schema that an SQLite database which other programs write is usable.

    Raises `StoreBusy`, `StoreUnusable`.
    """
    store = f"The database {path}"
    try:
        with closing(sqlite.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as connection:
            connection.execute("select count(*) from sqlite_master").fetchone()
    except sqlite.Error as error:
        raise (problem_of(store, error) or error) from error


def problem_of(store: str, error: BaseException) -> OperatorProblem | None:
    """Translates a driver's error into an `OperatorProblem`. Returns None for errors that the program caused."""
    name = str(getattr(error, "sqlite_errorname", None) or "")
    for prefix, what, cure in _SQLITE_PROBLEMS:
        if name.startswith(prefix):
            return StoreUnusable(f"{store} {what}.", cure=cure)
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreBusy(f"{store} stayed locked by another writer.", cure=BUSY_CURE)
    if not hasattr(error, "sqlstate"):
        return None
    if error.sqlstate is None and type(error).__name__ == "OperationalError":
        # psycopg's error, recognised by name: importing it would add 0.1 s to every start on SQLite.
        reason = (str(error).splitlines() or ["no reason given"])[0].rpartition("failed: ")[2]
        return StoreUnusable(f"{store} can't be reached: {reason}.", cure=_REACH_CURE)
    state = str(error.sqlstate or "")
    for prefix, what, cure in _POSTGRESQL_PROBLEMS:
        if state.startswith(prefix):
            return StoreUnusable(f"{store} {what}.", cure=cure)
    if state == "55P03":
        return StoreBusy(f"{store} stayed locked by another writer.", cure=BUSY_CURE)
    return None


_SQLITE_PROBLEMS = (
    ("SQLITE_CORRUPT", "is damaged", "Move it aside with its -wal and -shm files and restore a backup."),
    ("SQLITE_NOTADB", "is not an SQLite database", "Move it aside and restore a backup, or start with a new one."),
    ("SQLITE_READONLY", "is read-only", "Give this user write access to the file and its directory."),
    (
        "SQLITE_CANTOPEN",
        "can't be opened",
        "Free space if the disk is full, or else give this user write access to the file and its directory.",
    ),
    ("SQLITE_PERM", "can't be opened", "Give this user write access to the file and its directory."),
    ("SQLITE_FULL", "has no room left", "Free some disk space; nothing half-written was kept."),
    (
        "SQLITE_IOERR",
        "can't be read or written on this disk",
        "Free space if the disk is full, or else check it; nothing half-written was kept.",
    ),
)

_POSTGRESQL_PROBLEMS = (
    ("57P", "ended the connection", "Wait until PostgreSQL is up again and try once more."),
    ("57014", "cancelled a statement", "Try again; if it recurs, raise its statement_timeout for SVC_LEDGER_URL."),
    ("25P03", "ended a transaction that was left idle", "Try again; nothing was written."),
    ("25006", "is read-only", "Point SVC_LEDGER_URL at the primary."),
    ("42501", "lacks a permission", "Let the user of SVC_LEDGER_URL create and write tables there."),
    ("53", "has no room or connections left", "Free disk space or raise max_connections."),
    ("XX001", "is damaged", "Restore a backup."),
)
