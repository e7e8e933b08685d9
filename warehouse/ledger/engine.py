"""Connects to the ledger's database, SQLite or PostgreSQL, and translates its failures for an operator.

The differences between the two engines are in this module, in `schema.py` and in blocks or files named for one dialect.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pysqlite3.dbapi2 as sqlite
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from contracts.errors import SettingsInvalid, StoreBusy
from warehouse.ledger.drivers import (
    BUSY_CURE,
    CONNECT_ARGUMENTS,
    assert_sqlite_version,
    create_private_file,
    problem_of,
    use_wal,
)

WRITES = "ledger_writes"
"""The execution option of a connection whose transactions write."""


_PAGE_BYTES = 8_192
"""Page size of a new SQLite file; an existing file keeps its own. A large import costs SQLite a sixth less than with
4 KiB, and single proposals cost the same; with 16 KiB they took a fifth longer."""

LOG_BYTES = 64_000_000
"""Size to which SQLite's log shrinks when it starts over. Only imports let it grow further, up to a gigabyte."""

_POOL_SIZE = 5
_IDLE_IN_TRANSACTION_S = 60


def ledger_location(ledger_url: str | None, data_dir: Path) -> URL | Path:
    """Returns the configured PostgreSQL address, else the path of the SQLite file. Raises `SettingsInvalid`."""
    return data_dir / "ledger.db" if ledger_url is None else postgresql_address(ledger_url)


def postgresql_address(ledger_url: str) -> URL:
    """Parses SVC_LEDGER_URL. Raises `SettingsInvalid`."""
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
    """Creates the SQLite engine: WAL, synchronous=FULL, foreign keys, deleted content overwritten with zeros.

    A write transaction takes the write lock at its start and waits at most `wait_s` seconds for it.
    """
    assert_sqlite_version()
    create_private_file(path)
    # The connection that was used last is reused first: the pages that it has read are in memory.
    engine = create_engine(
        f"sqlite:///{path}",
        module=sqlite,
        pool_size=_POOL_SIZE,
        pool_use_lifo=True,
        connect_args={"timeout": wait_s},
    )

    @event.listens_for(engine, "connect")
    def _set_up(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # otherwise the driver begins and commits on its own, and lazily
        connection.execute(f"pragma page_size = {_PAGE_BYTES}")
        use_wal(connection, wait_s)
        connection.execute("pragma synchronous = full")
        connection.execute("pragma foreign_keys = on")
        connection.execute("pragma secure_delete = on")
        # A log that grew larger than this through a big import shrinks to this size when it starts over.
        connection.execute(f"pragma journal_size_limit = {LOG_BYTES}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(WRITES, False)
        cursor = connection.connection.cursor()
        cursor.execute(f"pragma query_only = {'off' if writes else 'on'}")
        # A deferred transaction that starts to write fails at once if another one wrote since it began.
        cursor.execute("begin immediate" if writes else "begin")

    return engine


def postgresql_engine(url: URL, wait_s: float) -> Engine:
    """Creates the PostgreSQL engine with a bounded pool. Locks wait `wait_s` seconds; the server ends idle
    transactions."""
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
            # A write must be on disk before it is answered, whatever the server's default; a stricter setting stays
            # unchanged.
            cursor.execute(
                "select set_config('synchronous_commit', 'on', false) "
                "where current_setting('synchronous_commit') = 'off'"
            )
        connection.commit()

    return engine


@contextmanager
def begun(engine: Engine) -> Iterator[Connection]:
    """Opens a connection in a transaction that ends with the block. A broken connection is removed from the pool."""
    with engine.begin() as connection:
        try:
            yield connection
        except engine.dialect.loaded_dbapi.Error as error:
            # The driver ran the statement itself. Without this, SQLAlchemy would roll back, fail, and report that
            # failure instead of this one.
            broken = connection.connection.dbapi_connection
            if connection.dialect.is_disconnect(error, broken, None):
                connection.invalidate(error)
            raise


@contextmanager
def failures_named(store: str) -> Iterator[None]:
    """Turns the driver's errors about a busy, unreachable, full or damaged `store` into an `OperatorProblem`.

    Errors of the program itself (a violated constraint, bad SQL) pass unchanged.
    """
    try:
        yield
    except PoolTimeout as error:
        raise StoreBusy(f"All connections to {store} are in use.", cure=BUSY_CURE) from error
    except Exception as error:
        problem = problem_of(store, getattr(error, "orig", None) or error)  # SQLAlchemy wraps the driver's error
        if problem is None:
            raise
        raise problem from error
